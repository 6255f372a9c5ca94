//! Tests that compare with real programs. Tests without their program are skipped, unless
//! `FENCEPOST_REAL_REDIS=1` makes them fail.

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
