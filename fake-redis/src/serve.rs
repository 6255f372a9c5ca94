//! Runs Redis servers behind real TCP sockets.

mod deployment;
mod manual;
#[cfg(test)]
mod tests;

pub use deployment::{ServeOptions, staged, start};
pub use fencepost_serve::{ServeError, Serving};
pub use manual::{ManualServers, start_manual};
