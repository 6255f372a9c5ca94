//! etcd 3.4.23 as a pure state machine, with a JSON gateway over HTTP/1.1, keys with all revisions,
//! leases, watches, and a cluster that agrees on changes with Raft.
//!
//! A write passes through `clients` (HTTP), `calls` (waiting), `raft` (agreement) and `state`
//! (its effects). docs/fidelity.md lists what the model omits.
//!
//! ```
//! use fencepost_etcd::{Config, Etcd};
//! use fencepost_machine::{ConnectionId, DiskImage, Input, Machine, Now, Output, Outputs};
//!
//! let (now, mut out) = (Now::default(), Outputs::default());
//! let mut server = Etcd::new(Config::default(), &DiskImage::default(), now);
//! server.handle(Input::Timer, now, &mut out);
//! let connection = ConnectionId(0);
//! server.handle(Input::Accepted { connection, peer: "client-1:40000" }, now, &mut out);
//! out.clear();
//! let bytes = b"GET /version HTTP/1.1\r\nHost: etcd-1\r\n\r\n";
//! server.handle(Input::Received { connection, bytes }, now, &mut out);
//! assert!(matches!(&out.list[0], Output::Send { bytes, .. } if bytes.ends_with(b"\"3.4.0\"}")));
//! ```

#![forbid(unsafe_code)]

mod calls;
mod check;
mod clients;
mod config;
mod connection;
mod http;
mod lease;
mod lessor;
mod locking;
mod mvcc;
mod peers;
mod pending;
mod quote;
mod raft;
mod refusal;
mod reply;
mod request;
mod server;
mod state;
mod tap;
#[cfg(test)]
mod tests;
mod wal;
mod watching;
mod wording;

pub use config::{Config, Member};
pub use server::Etcd;
pub use wording::etcd as wording;
