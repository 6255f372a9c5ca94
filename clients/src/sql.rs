//! Locks in PostgreSQL. Sources: articles 000 and 004. A lock of [`spring`] or [`shedlock`] is a
//! row with an owner and a time, which any process may take over once it considers the row expired.
//! A lock of [`advisory`] or [`for_update`] belongs to a database session or a transaction, and
//! ends with the connection. Each thread has one connection ([`session`]); connection pools are not
//! modelled.

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
