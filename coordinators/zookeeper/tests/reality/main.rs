//! Compares the model with a real ZooKeeper 3.8.0. The tests need Java and Debian's
//! `zookeeper.jar`. If either is missing, the tests are skipped, or fail if
//! `FENCEPOST_REAL_ZOOKEEPER=1`. `FENCEPOST_DIFFERENTIAL_CASES` sets the number of sequences, and
//! `FENCEPOST_DIFFERENTIAL_SEED` varies them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod both;
mod ensemble;
mod fake;
mod frames;
mod protocol;
mod real;
mod real_ensemble;
mod sequences;
mod shown;
#[path = "../../src/tests/world.rs"]
#[expect(dead_code, reason = "the tests of the crate itself want more of it")]
mod world;

use fencepost_zookeeper::{Config, Member, ZooKeeper};
