//! A Redis server as a pure state machine: (state, input, wall clock) -> outputs.
//!
//! Owns the keyspace, expiry, scripts, replication, persistence and Sentinel, and the one adapter to real TCP. Must never know the
//! simulator, lock algorithms or faults. No async, no I/O, no clock and no ambient randomness in the machine itself.

pub mod machine;

pub use machine::{ConnectionId, Input, KeyChange, Machine, Output, Outputs, TapEvent, WallTime};
