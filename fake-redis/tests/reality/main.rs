//! fake-redis against reality: what redis-server, redis-sentinel, redis-cli and redis-benchmark do
//! with it and without it.
//!
//! Runs if the programs are found; `FENCEPOST_REAL_REDIS=1` demands them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod busy;
mod comparison;
mod differential;
mod fakes;
mod oddities;
mod real;
mod restarts;
mod sentinel_file;
mod sequences;
mod statistics;
mod together;
