//! memcached 1.6.18 as a pure state machine, with its text protocol, its one-second clock and a
//! cache that evicts items. **Not modelled**: the binary protocol, meta commands (`mg`, `ms`, ...),
//! UDP, SASL, slab classes, the segmented LRU (another item may be evicted first), commands that
//! tune a running server.
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
