//! ZooKeeper 3.8.0 as a pure state machine, with its protocol, tree of nodes, sessions, watches,
//! and an ensemble that agrees on every change. A write passes through `clients` (frames and
//! sessions), `pipeline` (ordering), `prepare` (its transaction) and `ensemble` (agreement) to
//! `tree`, whose changes produce watch events and replies. docs/fidelity.md lists what the model
//! omits.
//!
//! ```
//! use fencepost_machine::{ConnectionId, DiskImage, Input, Machine, Now, Output, Outputs};
//! use fencepost_zookeeper::{Config, ZooKeeper};
//!
//! let (now, mut out) = (Now::default(), Outputs::default());
//! let mut server = ZooKeeper::new(Config::default(), &DiskImage::default(), now);
//! server.handle(Input::Timer, now, &mut out);
//! let connection = ConnectionId(0);
//! server.handle(Input::Accepted { connection, peer: "client-1:40000" }, now, &mut out);
//! out.clear();
//! server.handle(Input::Received { connection, bytes: b"srvr" }, now, &mut out);
//! assert!(matches!(&out.list[0], Output::Send { bytes, .. } if bytes.starts_with(b"Zoo")));
//! ```

#![forbid(unsafe_code)]

mod client_connections;
mod clients;
mod code;
mod config;
mod connection;
mod counts;
mod ensemble;
mod jute;
mod member;
mod outstanding_changes;
mod password;
mod path;
mod pipeline;
mod prepare;
mod reading;
mod reply;
mod server;
mod sessions;
mod stat;
mod store;
mod tap;
#[cfg(test)]
mod tests;
mod transaction;
mod tree;
mod waiting;
mod watches;
mod wording;
mod words;

pub use config::{Config, Member, MemberId};
pub use server::ZooKeeper;
pub use wording::zookeeper as wording;
