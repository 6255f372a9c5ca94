//! Random requests, and odd ones, against a real etcd and against ours: what is answered must be
//! the same, but for what names the server and the time.
//!
//! Runs if etcd is found; `FENCEPOST_REAL_ETCD=1` demands it. `FENCEPOST_DIFFERENTIAL_CASES` is the
//! number of sequences, `FENCEPOST_DIFFERENTIAL_SEED` from which they follow.

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

use fencepost_etcd::{Config, Etcd, Member};
