//! PostgreSQL 15 as a pure state machine, with its protocol, the SQL that lock tables need, and
//! concurrent transactions.
//!
//! A message goes from [`Postgresql`] to the client of its connection (`client`). It is parsed
//! (`sql`), planned (`bind`, `execute/plan.rs`) and executed row by row (`execute`) on row versions
//! (`store/heap.rs`). A session that has to wait is queued (`store/locks.rs`). It resumes when the
//! lock is released, or when it is cancelled or found in a deadlock. A commit is in the log
//! (`wal.rs`) and on disk before the reply.
//!
//! The model has everything that a lock can observe: READ COMMITTED, which checks a changed row
//! again; REPEATABLE READ, which refuses to; SERIALIZABLE, which cancels transactions without a
//! serial order (`store/serializable.rs`); unique keys that wait for each other; row, table and
//! advisory locks; session timeouts; rollback when a connection ends. It refuses with SQLSTATE
//! 0A000 what is not modelled: joins, subqueries, views, triggers, foreign keys, SQL cursors, COPY,
//! decimal numbers, time zones other than UTC. Every user may connect (`trust`).
//!
//! The entry points are [`Config`] and [`Postgresql`], a [`Machine`](fencepost_machine::Machine);
//! [`Watch`] and [`LockTable`] select the lock reported to the judge. The crate has no features.
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
