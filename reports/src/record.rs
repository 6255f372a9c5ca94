//! The record of a run before it is judged.

pub mod checksum;
pub mod digest;
pub mod history;
pub mod programs;
#[cfg(test)]
pub(crate) mod story;
pub mod trace;
pub mod validate;
pub mod visible;
