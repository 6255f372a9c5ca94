//! MariaDB 10.11 as a pure state machine with the parts that locks need: the MySQL protocol, the
//! statements around `GET_LOCK`, and tables with row locks.
//!
//! A client's packet (`client`) is parsed (`sql`) and executed by a stack machine (`run.rs`) or row
//! by row (`execute`). A statement that waits for a user lock (`locks.rs`) or a row lock (`store`)
//! resumes later. Unsupported statements fail with error 1235. docs/fidelity.md lists the limits,
//! and the differences between MySQL 8 and MariaDB.
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
pub use wording::wording;

pub(crate) const VERSION: &str = "10.11.19-MariaDB-0+deb12u1";
