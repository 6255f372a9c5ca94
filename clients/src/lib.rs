//! Lock algorithms as applications and libraries implement them.
//!
//! This example finds a lock in the table, and reads a lock written in Lua:
//!
//! ```
//! use fencepost_clients::lua::Script;
//! use fencepost_clients::{Deployment, find};
//!
//! let redlock = find("redlock").ok_or("no such lock")?;
//! assert_eq!(redlock.deployment, Deployment::Independent);
//!
//! let text = "
//!     function acquire(key, ttl)
//!       local owner = random_hex(20)
//!       if redis.call('SET', key, owner, 'NX', 'PX', ttl) then return owner end
//!     end
//!     function release(key, owner)
//!       return redis.script(KEYS_EQUAL_THEN_DEL, key, owner) == 1
//!     end";
//! assert_eq!(Script::read("lock.lua", text)?.deployment(), Deployment::Primary);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`CLIENTS`] is the table of locks. Each [`Definition`] in it builds a lock. To write a lock,
//! start at [`lock`]. For Redis use [`Session`], [`Script`], [`Retry`] and [`owned_key`]; for
//! another coordinator use the client in its folder. To run a lock, implement [`World`].

#![forbid(unsafe_code)]

pub mod env;
pub mod lock;
pub mod task;

pub mod call_error;
pub mod connection;
pub mod reply;
pub mod stream;

pub mod discovery;
pub mod session;

pub mod attempt;
pub mod commands;
pub mod owned_key;
pub mod replica_wait;
pub mod retry;
pub mod script;

pub mod articles;
pub mod chubby;
pub mod etcd;
pub mod fencing;
pub mod gemfire;
pub mod lua;
pub mod memcached;
pub mod mysql;
pub mod redisson;
pub mod redlock;
pub mod single_node;
pub mod spring_registry;
pub mod sql;
pub mod zookeeper;

pub mod table;

#[cfg(test)]
mod testing;

pub use bytes;
pub use call_error::CallError;
pub use env::{Address, Env, HostKey, Monotonic, WallClock, World};
pub use lock::{
    Acquisition, Algorithm, Check, Coordinator, Definition, Deployment, Extension, FencingToken,
    Lease, Lock, LockForm, Release, ReplicaWait, ServerLock, Servers, Settings, Usage,
};
pub use reply::Reply;
pub use retry::Retry;
pub use script::Script;
pub use session::Session;
pub use table::{CLIENTS, TWINS, Twin, find};
pub use task::{Notify, Task};
