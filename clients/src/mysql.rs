//! Locks in MySQL and MariaDB that belong to a connection (`GET_LOCK`).

pub mod get_lock;
pub mod protocol;
pub mod session;

use crate::env::{Address, Env};
use crate::lock::{Servers, Settings};
use session::Session;

fn address(servers: &Servers) -> &Address {
    match servers {
        Servers::Ensemble(members) => &members[0],
        _ => panic!("a MySQL is needed, but the servers are {servers:?}"),
    }
}

pub fn connection(env: &Env, servers: &Servers, settings: &Settings) -> Session {
    Session::new(env, address(servers), settings.command_timeout)
}
