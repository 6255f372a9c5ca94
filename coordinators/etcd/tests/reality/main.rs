#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cluster;
mod fake;
mod http;
mod odd;
mod real;
mod real_cluster;
mod sequences;
#[path = "../../src/tests/world.rs"]
#[expect(dead_code, reason = "the tests of the crate itself want more of it")]
mod world;

use fencepost_etcd::{Config, Etcd};
