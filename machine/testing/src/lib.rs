//! What tests of machines share. Only tests depend on this crate.
//!
//! [`Bench`] drives one machine without a network: what it sends can be read at once. [`World`]
//! drives several, with a network between them. [`disks`] damages what a machine keeps. The rest
//! ([`free_port`], [`wait_for`], [`wait_until_ready`], [`signal`], [`skip`]) is for comparing a
//! machine with the real server. The crate has no features.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![forbid(unsafe_code)]

mod bench;
pub mod disks;
mod real;
mod world;

pub use bench::Bench;
pub use real::{free_port, signal, skip, wait_for, wait_until_ready};
pub use world::{Crash, End, Host, World};
