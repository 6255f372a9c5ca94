//! Shared test support for machines. Only tests depend on this crate.
//!
//! [`Bench`] drives one machine without a network. [`World`] drives several over a simulated
//! network. [`disks`] damages files. [`free_port`], [`wait_for`], [`wait_until_ready`], [`signal`]
//! and [`skip`] serve comparisons with real servers. The crate has no features.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![forbid(unsafe_code)]

mod bench;
pub mod disks;
mod real;
mod world;

pub use bench::Bench;
pub use real::{free_port, signal, skip, wait_for, wait_until_ready};
pub use world::{Crash, End, Host, World};
