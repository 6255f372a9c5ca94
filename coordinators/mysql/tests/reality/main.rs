#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fake;
mod frames;
mod packets;
mod real;
mod refused;
mod sequences;
mod statements;
mod tables;
