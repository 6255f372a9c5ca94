#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fake;
mod frames;
mod messages;
mod real;
mod refused;
mod replication;
mod sequences;
mod serializable;
mod statements;
