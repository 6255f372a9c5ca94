//! Random statements over several connections, and odd frames, against a real PostgreSQL and
//! against ours: what is answered, and who has to wait, must be the same.
//!
//! Runs if PostgreSQL is found; `FENCEPOST_REAL_POSTGRESQL=1` demands it.
//! `FENCEPOST_DIFFERENTIAL_CASES` is the number of sequences, `FENCEPOST_DIFFERENTIAL_SEED` from
//! which they follow.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fake;
mod frames;
mod messages;
mod real;
mod replication;
mod sequences;
mod serializable;
mod statements;
