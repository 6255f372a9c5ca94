//! Random statements over several connections, and odd packets, against a real MariaDB and against
//! ours: what is answered, byte by byte, and who has to wait, must be the same.
//!
//! Runs if MariaDB is found; `FENCEPOST_REAL_MYSQL=1` demands it. `FENCEPOST_DIFFERENTIAL_CASES` is
//! the number of sequences, `FENCEPOST_DIFFERENTIAL_SEED` from which they follow.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fake;
mod frames;
mod packets;
mod real;
mod sequences;
mod statements;
mod tables;
