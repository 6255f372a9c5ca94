//! Redis behind real TCP: which servers there are, and the driver of all machines under them.

mod deployment;
#[cfg(test)]
mod tests;

pub use deployment::{ServeOptions, start};
pub use fencepost_serve::{ServeError, Serving};
