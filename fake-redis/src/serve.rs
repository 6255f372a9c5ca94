//! Redis behind real TCP: the servers to run, and the driver for their machines.

mod deployment;
#[cfg(test)]
mod tests;

pub use deployment::{ServeOptions, start};
pub use fencepost_serve::{ServeError, Serving};
