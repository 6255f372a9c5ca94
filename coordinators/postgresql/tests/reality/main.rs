//! Tests that send random statements and invalid frames to a real PostgreSQL and to the model.
//! Without PostgreSQL the tests are skipped, or fail if `FENCEPOST_REAL_POSTGRESQL=1`.
//! `FENCEPOST_DIFFERENTIAL_CASES` sets the number of sequences, and `FENCEPOST_DIFFERENTIAL_SEED`
//! varies them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fake;
mod frames;
mod messages;
mod real;
mod replication;
mod sequences;
mod serializable;
mod statements;
