//! memcached 1.6.18 as a pure state machine: its text protocol, its clock of whole seconds, and a
//! cache that forgets.
//!
//! What a lock can notice is modelled: `add` and `cas`, expiry by a clock that moves once a second
//! (so that a lease ends up to a second early), eviction of what was used least recently, and that
//! nothing survives a restart. Not modelled: the binary protocol, meta commands (`mg`, `ms`, ...),
//! UDP, SASL, slab classes and the segmented LRU (which item of many is evicted may differ), and
//! the commands that tune a running server. All of these are answered with `ERROR`.
//!
//! Entry points: [`Config`] and [`Memcached`], a [`Machine`](fencepost_machine::Machine). The crate
//! has no features.
//!
//! ```
//! use fencepost_machine::{ConnectionId, Input, Machine, Now, Output, Outputs};
//! use fencepost_memcached::{Config, Memcached};
//!
//! let (now, mut out) = (Now::default(), Outputs::default());
//! let mut server = Memcached::new(Config::default(), now);
//! let connection = ConnectionId(0);
//! server.handle(Input::Accepted { connection, peer: "client-1:40000" }, now, &mut out);
//! let bytes = b"add lock 0 10 1\r\na\r\n";
//! server.handle(Input::Received { connection, bytes }, now, &mut out);
//! assert_eq!(out.list, [Output::Send { connection, bytes: "STORED\r\n".into() }]);
//! ```

#![forbid(unsafe_code)]

mod block;
mod cache;
mod clock;
mod commands;
mod number;
mod reply;
mod server;
mod storing;
#[cfg(test)]
mod tests;

pub use server::{Config, Memcached};
