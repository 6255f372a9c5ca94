//! Skips tests whose real program is missing, or fails them if `FENCEPOST_REAL_REDIS` is set.

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
