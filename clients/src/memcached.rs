//! Locks on memcached. Source: article 001. memcached has no scripts, but `cas` stores an item only
//! if it has not changed since the client read it (doc/protocol.txt). The server counts a lease in
//! whole seconds and reads its clock once a second, so a lease of ten seconds ends after nine to
//! ten seconds.

pub mod add;
pub mod cas;
pub mod get_delete;
pub mod protocol;
pub mod session;

use crate::call_error::CallError;
use crate::env::Env;
use crate::lock::{Acquisition, Lease, Release, Servers, Settings};
use bytes::Bytes;
use protocol::{Answer, Item};
use session::Session;
use std::time::Duration;

struct Base {
    env: Env,
    settings: Settings,
    server: Session,
}

impl Base {
    fn new(env: Env, servers: &Servers, settings: &Settings) -> Base {
        let Servers::Ensemble(members) = servers else {
            panic!("a memcached is needed, but the servers are {servers:?}")
        };
        let server = Session::new(&env, &members[0], settings.command_timeout);
        Base { env, settings: settings.clone(), server }
    }

    async fn add(&mut self, key: &str, value: &[u8], seconds: u64) -> Result<bool, CallError> {
        let length = value.len();
        let line = format!("add {key} 0 {seconds} {length}\r\n");
        let request = [line.as_bytes(), value, b"\r\n"].concat();
        match self.server.call(&request).await? {
            Answer::Line(line) if line == "STORED" => Ok(true),
            Answer::Line(line) if line == "NOT_STORED" => Ok(false),
            answer => Err(answer.unexpected()),
        }
    }

    async fn delete(&mut self, key: &str) -> Result<bool, CallError> {
        match self.server.call(format!("delete {key}\r\n").as_bytes()).await? {
            Answer::Line(line) if line == "DELETED" => Ok(true),
            Answer::Line(line) if line == "NOT_FOUND" => Ok(false),
            answer => Err(answer.unexpected()),
        }
    }

    async fn gets(&mut self, key: &str) -> Result<Option<Item>, CallError> {
        match self.server.call(format!("gets {key}\r\n").as_bytes()).await? {
            Answer::Items(items) => Ok(items.into_iter().next()),
            answer => Err(answer.unexpected()),
        }
    }

    /// Replaces the item with an item that has expired. Returns `false` if the item is missing or
    /// has another cas id.
    async fn expire(&mut self, key: &str, id: u64) -> Result<bool, CallError> {
        match self.server.call(format!("cas {key} 0 -1 0 {id}\r\n\r\n").as_bytes()).await? {
            Answer::Line(line) if line == "STORED" => Ok(true),
            Answer::Line(line) if line == "EXISTS" || line == "NOT_FOUND" => Ok(false),
            answer => Err(answer.unexpected()),
        }
    }
}

fn whole_seconds(ttl: Duration) -> u64 {
    ttl.as_secs() + u64::from(ttl.subsec_nanos() > 0)
}

fn lease(resource: &str, owner: Bytes) -> Lease {
    Lease { resource: resource.to_owned(), owner, token: None, valid_until: None }
}

fn taken(outcome: Result<bool, CallError>, resource: &str, owner: Bytes) -> Acquisition {
    match outcome {
        Ok(true) => Acquisition::Granted(lease(resource, owner)),
        Ok(false) => Acquisition::Refused("held by another".into()),
        Err(error) if error.may_have_applied() => Acquisition::Unknown(error.to_string()),
        Err(error) => Acquisition::Refused(error.to_string().into()),
    }
}

fn released(outcome: Result<bool, CallError>) -> Release {
    match outcome {
        Ok(true) => Release::Released,
        Ok(false) => Release::NotHeld,
        Err(error) => Release::Unknown(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
