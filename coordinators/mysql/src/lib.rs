//! MariaDB 10.11 as a pure state machine, as far as locks go: the protocol of MySQL, the statements
//! around `GET_LOCK`, and tables whose rows are locks.
//!
//! A packet goes from [`Mysql`] to the client of its connection (`client`), is parsed (`sql`) and
//! carried out by a small stack machine (`run.rs`), which can stop in the middle of a statement and
//! go on when the lock that it waits for (`locks.rs`) has come, the time for it is over, or
//! somebody kills it. A lock belongs to its session: it ends with the connection, as soon as the
//! server notices that end, or with the server.
//!
//! A statement about a table goes another way (`execute`): from row to row, whose versions and
//! locks are in the `store`, as InnoDB has them. What was committed is on the disk.
//!
//! What is not modelled is refused with error 1235, and prepared statements with 1295. Only `root`
//! is let in, without a password. docs/fidelity.md lists what that is, and where MySQL 8 differs
//! from MariaDB.
//!
//! Entry points: [`Config`] and [`Mysql`], a [`Machine`](fencepost_machine::Machine). The crate has
//! no features.
//!
//! ```
//! use fencepost_machine::{ConnectionId, DiskImage, Input, Machine, Now, Output, Outputs};
//! use fencepost_mysql::{Config, Mysql};
//!
//! let (now, mut out) = (Now::default(), Outputs::default());
//! let mut server = Mysql::new(Config::default(), &DiskImage::default());
//! let connection = ConnectionId(0);
//! server.handle(Input::Accepted { connection, peer: "client-1:40000" }, now, &mut out);
//! let Output::Send { bytes, .. } = &out.list[0] else { panic!("the server speaks first") };
//! assert!(bytes[5..].starts_with(b"5.5.5-10.11.19-MariaDB"));
//! ```

#![forbid(unsafe_code)]

mod charset;
mod client;
mod columns;
mod error;
mod execute;
mod locks;
mod number;
mod packet;
mod run;
mod server;
mod session;
mod sql;
mod store;
#[cfg(test)]
mod tests;
mod timestamp;
mod value;
mod variables;
mod wording;

pub use server::{Config, Mysql};

/// The version that is modelled, as the server tells it.
pub(crate) const VERSION: &str = "10.11.19-MariaDB-0+deb12u1";
