//! Locks in a relational database: PostgreSQL.
//!
//! Source: article 000, "most solutions rest on a database", and 004, which names Spring's JDBC
//! registry. Two families: a row with the owner and the expiry, which any process may overwrite
//! once it considers it expired ([`spring`], [`shedlock`]); and a lock of a session or a
//! transaction, which ends with the connection ([`advisory`], [`for_update`]).
//!
//! Each thread has one connection, without a pool ([`session`]). Settings at the opening of a
//! connection, and checks of idle ones, are left out.

pub mod advisory;
pub mod for_update;
pub mod protocol;
pub mod session;
pub mod shedlock;
pub mod spring;
mod time;

use crate::env::{Address, Env};
use crate::lock::{Lease, Servers, Settings};
use bytes::Bytes;
use session::Session;

/// The address of the server, or of the primary and its standby. Panics if the servers are no
/// ensemble.
fn hosts(servers: &Servers) -> &[Address] {
    match servers {
        Servers::Ensemble(members) => members,
        _ => panic!("a PostgreSQL is needed, but the servers are {servers:?}"),
    }
}

fn connection(env: &Env, servers: &Servers, settings: &Settings) -> Session {
    Session::new(env, hosts(servers), settings.command_timeout)
}

fn lease(resource: &str, owner: impl Into<Bytes>) -> Lease {
    Lease { resource: resource.to_owned(), owner: owner.into(), token: None, valid_until: None }
}
