//! Redis behind real TCP: the servers to run, and the driver for their machines.

mod deployment;
mod manual;
#[cfg(test)]
mod tests;

pub use deployment::{ServeOptions, start};
pub use fencepost_serve::{ServeError, Serving};
pub use manual::{Commanded, start_manual};
