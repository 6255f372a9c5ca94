//! PostgreSQL 15 as a pure state machine, with its protocol, the SQL that lock tables need, and
//! concurrent transactions. A client's message (`client`) is parsed (`sql`), planned (`bind`,
//! `execute/plan.rs`) and executed row by row (`execute`) on row versions (`store/heap.rs`). A
//! session that waits for a lock (`store/locks.rs`) resumes later. By default, a commit is in the
//! log (`wal.rs`) and on disk before the reply.
//!
//! **Not modelled**, among other features: joins, subqueries, views, triggers, foreign keys, SQL
//! cursors, COPY, decimal arithmetic, time zones other than UTC. Every user may connect (`trust`).
//!
//! ```
//! use fencepost_machine::{ConnectionId, DiskImage, Input, Machine, Now, Output, Outputs};
//! use fencepost_postgresql::{Config, Postgresql};
//!
//! let (now, mut out) = (Now::default(), Outputs::default());
//! let mut server = Postgresql::new(Config::default(), &DiskImage::default(), now);
//! let connection = ConnectionId(0);
//! server.handle(Input::Accepted { connection, peer: "client-1:40000" }, now, &mut out);
//! let bytes = b"\0\0\0\x08\x04\xd2\x16\x2f";
//! server.handle(Input::Received { connection, bytes }, now, &mut out);
//! assert_eq!(out.list, [Output::Send { connection, bytes: "N".into() }], "no encryption");
//! ```

#![forbid(unsafe_code)]

mod bind;
mod bound;
mod client;
mod core;
mod error;
mod execute;
mod replication;
mod server;
mod session;
mod settings;
mod span;
mod sql;
mod store;
mod stream;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod wal;
mod watch;
mod wire;
mod wording;

pub use server::{Config, Postgresql};
pub use stream::Replication;
pub use watch::{HeldWhen, LockTable, Watch};
pub use wording::wording;

pub(crate) const VERSION: &str = "15.20 (Debian 15.20-0+deb12u1)";
