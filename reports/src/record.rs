//! Records of runs before they are judged.

pub mod checksum;
pub mod digest;
pub mod history;
pub mod programs;
#[cfg(test)]
pub(crate) mod story;
pub mod trace;
pub mod validate;
pub mod visible;
