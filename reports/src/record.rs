//! Recorded runs: their history, their messages and the output of programs.

pub mod checksum;
pub mod digest;
pub mod history;
pub mod programs;
#[cfg(test)]
pub(crate) mod story;
pub mod trace;
pub mod validate;
pub mod visible;
