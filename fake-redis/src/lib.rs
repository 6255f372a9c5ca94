//! A Redis server as a pure state machine: (state, input, wall clock) -> outputs.
//!
//! Owns the keyspace, expiry, scripts, replication, persistence and Sentinel, and the one adapter
//! to real TCP. No async, no I/O, no clock and no ambient randomness in the machine itself.
//!
//! Entry points: [`Node`] is a server and [`Sentinel`] a Sentinel, both a [`Machine`] that is handed
//! an [`Input`] and answers with [`Outputs`]; [`NodeConfig`] and [`SentinelConfig`] say how they are
//! set up; [`serve::start`] puts them behind real sockets.
//!
//! Feature `planted-leak`: scripts can be made to share tables, for tests that show that such a
//! leak is caught (`planted`). No feature is on by default.
//!
//! The rooms, in the order in which each may use those before it: `data` is what is stored,
//! `protocol` how it is said, [`config`] how a server is set up; `state` is all that a server
//! remembers. `keys` changes keys and tells everybody, `clients` lets clients come, wait and go,
//! `persistence` and `replication` are the disk and the other servers. `calls` executes a command,
//! `script` many, and `commands` has the code of each. `front` is the server as its driver sees
//! it: an input walks from `front::node` down, and every change that it makes from `keys` on.

mod data;

mod protocol;

pub mod config;

mod state;

mod keys;

mod clients;

mod persistence;

mod replication;

mod calls;

mod script;

mod commands;

mod front;

pub mod sentinel;

pub mod serve;

#[cfg(feature = "planted-leak")]
pub mod planted;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
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
pub use front::node::Node;
pub use sentinel::{Sentinel, SentinelConfig};
