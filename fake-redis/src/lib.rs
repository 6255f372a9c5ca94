//! A Redis server for tests: in your own simulation, behind real TCP, or as a pure state machine.
//!
//! # In your own simulation
//!
//! [`host::serve`] provides Redis to services tested under turmoil. This example runs a server on a
//! turmoil host, and redis-rs over turmoil's `TcpStream`:
//!
//! ```
//! use fake_redis::NodeConfig;
//! use fake_redis::host::{GuestHardware, SharedDisk, serve};
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
//!             Ok(serve(config, 7, GuestHardware { disk, clock }, accept, connect).await?)
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
//! /// The server's wall clock, since the Unix epoch.
//! fn clock() -> Duration {
//!     Duration::from_secs(1_700_000_000) + turmoil::sim_elapsed().unwrap_or_default()
//! }
//! ```
//!
//! `examples/turmoil_lock.rs` continues this example: Sentinel promotes a replica, and a lock has
//! two holders. [`host`] describes crashes, clocks, and the limits of turmoil.
//!
//! # As a state machine
//!
//! [`Node`] and [`Sentinel`] are [`Machine`]s, configured by [`NodeConfig`] and [`SentinelConfig`].
//! They turn an [`Input`] and the time into [`Outputs`], without async, I/O, a clock or ambient
//! randomness. [`serve::start`] runs them behind real sockets.
//!
//! Feature `planted-leak`, off by default, adds a deliberate bug (module `planted_bugs`).

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
pub mod planted_bugs;
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
    ConnectionId, Disk, DiskImage, DiskReply, Input, InputDriver, KeyChange, Machine,
    MonotonicTime, Now, OperatorAction, Output, Outputs, TapEvent, WallTime,
};
pub use front::node::Node;
pub use sentinel::{Sentinel, SentinelConfig};
