//! Locks in PostgreSQL. [`spring`] and [`shedlock`] store a row that any process may overwrite once
//! it considers the row expired. [`advisory`] and [`for_update`] lock in a session or a
//! transaction.

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
