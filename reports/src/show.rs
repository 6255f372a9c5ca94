//! Writes reports and sweeps in the output formats.

pub mod format;
pub(crate) mod picture;
pub mod view;
