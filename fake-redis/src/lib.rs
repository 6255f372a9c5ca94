//! A Redis server that runs in your test: in a simulation of your own, behind real TCP, or as a
//! pure state machine.
//!
//! # In a simulation of your own
//!
//! People who test a service under turmoil have no Redis there. [`host::serve`] is one: a future
//! that serves on any listener, with replicas and Sentinels as further hosts, a disk that outlives
//! `crash` and `bounce`, and a clock of its own. This is a server on a turmoil host, and redis-rs
//! over turmoil's `TcpStream`:
//!
//! ```
//! use fake_redis::NodeConfig;
//! use fake_redis::host::{Hardware, SharedDisk, serve};
//! use redis::{RedisConnectionInfo, aio::MultiplexedConnection};
//! use std::time::Duration;
//! use turmoil::net::{TcpListener, TcpStream};
//!
//! fn main() -> turmoil::Result {
//!     let mut sim = turmoil::Builder::new().rng_seed(7).build();
//!     let disk = SharedDisk::default();
//!     sim.host("redis-1", move || {
//!         let disk = disk.clone();
//!         async move {
//!             let config = NodeConfig { host: "redis-1".into(), ..NodeConfig::default() };
//!             let listener = TcpListener::bind("0.0.0.0:6379").await?;
//!             let accept = async move || listener.accept().await;
//!             let connect = async |host, port| TcpStream::connect((host, port)).await;
//!             Ok(serve(config, 7, Hardware { disk, clock }, accept, connect).await?)
//!         }
//!     });
//!     sim.client("alice", async {
//!         let stream = TcpStream::connect("redis-1:6379").await?;
//!         let settings = RedisConnectionInfo::default();
//!         let (mut redis, driver) = MultiplexedConnection::new(&settings, stream).await?;
//!         let mut lock = redis::cmd("SET");
//!         lock.arg("lock").arg("alice").arg("NX").arg("PX").arg(10_000);
//!         tokio::select! {
//!             granted = lock.query_async::<bool>(&mut redis) => assert!(granted?),
//!             () = driver => panic!("the connection is lost"),
//!         }
//!         Ok(())
//!     });
//!     sim.run()
//! }
//!
//! /// What the server's wall clock shows, since the Unix epoch.
//! fn clock() -> Duration {
//!     Duration::from_secs(1_700_000_000) + turmoil::sim_elapsed().unwrap_or_default()
//! }
//! ```
//!
//! `examples/turmoil_lock.rs` goes on from there: a primary crashes, Sentinel promotes its replica,
//! and a lock has two holders. The same seed gives the same order of commands. [`host`] says what a
//! crash loses, which clock each server has, and what turmoil does not do.
//!
//! # As a state machine
//!
//! (state, input, wall clock) -> outputs: the keyspace, expiry, scripts, replication, persistence
//! and Sentinel. No async, no I/O, no clock and no ambient randomness in the machine itself.
//!
//! Entry points: [`Node`] is a server and [`Sentinel`] a Sentinel, both a [`Machine`] that is
//! handed an [`Input`] and answers with [`Outputs`]; [`NodeConfig`] and [`SentinelConfig`] say how
//! they are set up; [`host::serve`] makes one a host of another world, and [`serve::start`] puts
//! them behind real sockets.
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

pub mod host;

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
