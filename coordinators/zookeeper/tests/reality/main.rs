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

use fencepost_zookeeper::{Config, ZooKeeper};
