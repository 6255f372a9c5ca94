//! A Redis server as a pure state machine: (state, input, wall clock) -> outputs.
//!
//! Owns the keyspace, expiry, scripts, replication, persistence and Sentinel, and the one adapter
//! to real TCP. No async, no I/O, no clock and no ambient randomness in the machine itself.

pub mod config;
mod node;
pub mod sentinel;
pub mod serve;

mod args;
mod blocking;
mod client;
mod command;
mod commands;
mod config_file;
mod error;
mod eviction;
mod extended;
mod glob;
mod inline;
mod interlude;
mod keyspace;
mod notify;
mod number;
mod outgoing;
mod output_limit;
mod parameters;
mod persistence;
#[cfg(feature = "planted-leak")]
pub mod planted;
mod pubsub;
mod random;
mod rdb;
mod recent;
mod replication;
mod reply;
mod request;
mod script;
mod server;
mod settings;
mod statistics;
mod tap;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod timers;
mod tracking;
mod transaction;
mod value;
#[cfg(test)]
mod world;

pub use config::{
    Fsync, MaxmemoryPolicy, NodeConfig, OutputLimit, OutputLimits, Persistence, RedisVersion,
    SavePoint,
};
pub use fencepost_machine::{
    Attendant, ConnectionId, Disk, DiskImage, DiskReply, Input, KeyChange, Machine, MonotonicTime,
    Now, OperatorAction, Output, Outputs, TapEvent, WallTime,
};
pub use node::Node;
pub use sentinel::{Sentinel, SentinelConfig};
