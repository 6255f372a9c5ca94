//! Recordings of runs: the history, the messages, and the executions of programs.

pub mod checksum;
pub mod digest;
pub mod history;
pub mod listed;
pub mod programs;
#[cfg(test)]
pub(crate) mod story;
pub mod trace;
pub mod validate;
pub mod visible;
