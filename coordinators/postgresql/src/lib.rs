//! PostgreSQL 15 as a pure state machine: its protocol, the SQL that lock tables need, and what
//! happens when transactions meet.
//!
//! A message goes from [`Postgresql`] to the client of its connection (`client`), is parsed
//! (`sql`), planned (`bind`, `execute/plan.rs`) and carried out row by row (`execute`) on versions
//! of rows (`store/heap.rs`) that only the right transactions see. Whoever has to wait stands in a
//! queue (`store/locks.rs`), and goes on when the one before has ended, is cancelled, or is found
//! to be in a deadlock. A commit is in the log (`wal.rs`) and on the disk before it is answered.
//!
//! What a lock can notice is modelled: READ COMMITTED, which looks at a changed row anew,
//! REPEATABLE READ, which refuses to, and SERIALIZABLE, which cancels transactions that could not
//! have run one after the other (`store/serializable.rs`); unique keys that wait for each other;
//! row, table and advisory locks; every timeout of a session; rollback when a connection ends. Not
//! modelled, and refused with SQLSTATE 0A000: joins, subqueries, views, triggers, foreign keys,
//! cursors in SQL, COPY, numbers with a point, time zones other than UTC. Everybody is let in
//! (`trust`).
//!
//! Entry points: [`Config`] and [`Postgresql`], a [`Machine`](fencepost_machine::Machine);
//! [`Watch`] and [`LockTable`] say of which lock the judge is told. The crate has no features.
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

/// The version that is modelled, as the server tells it.
pub(crate) const VERSION: &str = "15.20 (Debian 15.20-0+deb12u1)";
