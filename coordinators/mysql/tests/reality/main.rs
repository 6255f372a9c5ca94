//! Tests that send random statements and invalid packets to a real MariaDB and to the model.
//! Without MariaDB the tests are skipped, or fail if `FENCEPOST_REAL_MYSQL=1`.
//! `FENCEPOST_DIFFERENTIAL_CASES` sets the number of sequences, and `FENCEPOST_DIFFERENTIAL_SEED`
//! varies them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fake;
mod frames;
mod packets;
mod real;
mod sequences;
mod statements;
mod tables;
