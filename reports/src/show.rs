//! Renders reports and sweeps.

pub mod format;
pub(crate) mod picture;
pub mod view;
