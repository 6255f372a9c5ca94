//! Random statements on several connections, and invalid packets, against a real MariaDB and
//! against ours.
//!
//! Skipped without MariaDB unless `FENCEPOST_REAL_MYSQL=1`. `FENCEPOST_DIFFERENTIAL_CASES` sets the
//! number of sequences, `FENCEPOST_DIFFERENTIAL_SEED` varies them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fake;
mod frames;
mod packets;
mod real;
mod sequences;
mod statements;
mod tables;
