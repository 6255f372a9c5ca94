//! Tests of fake-redis with real programs: redis-server, redis-sentinel, redis-cli and
//! redis-benchmark.
//!
//! The tests are skipped without these programs unless `FENCEPOST_REAL_REDIS=1`.

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
