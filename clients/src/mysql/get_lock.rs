//! `mysql-get-lock`: `GET_LOCK` and `RELEASE_LOCK`, with a lock that belongs to the connection.
//! Source: MySQL's reference manual, "Locking Functions", and MariaDB's knowledge base. The owner
//! value is the number of the connection, as in `IS_USED_LOCK`. One mistake remains: **the holder
//! does not notice that its session has ended** until it releases the lock.
//! `mysql-get-lock-checked` checks the owner just before the guarded write.

use super::connection;
use super::protocol::{Rows, quoted};
use super::session::{Failure, Session};
use crate::call_error::CallError;
use crate::env::{Env, Monotonic, Note};
use crate::lock::{
    Acquisition, Algorithm, Check, Definition, Deployment, Lease, Release, Servers, Settings, Usage,
};
use crate::retry::Retry;
use std::time::Duration;

pub const DEFINITION: Definition = Definition {
    name: "mysql-get-lock",
    about: "MySQL: GET_LOCK on the connection; released by RELEASE_LOCK",
    deployment: Deployment::MySql,
    has_tokens: false,
    is_fair: false,
    models: None,
    build: |env, servers, settings| Box::new(GetLock::new(env, servers, settings, Usage::PLAIN)),
};

pub const CHECKED: Definition = Definition {
    name: "mysql-get-lock-checked",
    about: "mysql-get-lock whose holder checks IS_USED_LOCK before it writes",
    build: |env, servers, settings| {
        let usage = Usage { checks: true, ..Usage::PLAIN };
        Box::new(GetLock::new(env, servers, settings, usage))
    },
    ..DEFINITION
};

struct GetLock {
    env: Env,
    settings: Settings,
    server: Session,
    usage: Usage,
}

fn value(rows: &Rows) -> Option<&str> {
    rows.first()?.first()?.as_deref()
}

impl GetLock {
    fn new(env: Env, servers: &Servers, settings: &Settings, usage: Usage) -> GetLock {
        let server = connection(&env, servers, settings);
        GetLock { env, settings: settings.clone(), server, usage }
    }

    /// The server queues the request for the remaining whole seconds, but for at least one second.
    async fn attempt(&mut self, resource: &str, deadline: Monotonic) -> Acquisition {
        let left = deadline.since(self.env.monotonic_clock()).as_secs().max(1);
        let sql = format!("SELECT GET_LOCK({}, {left})", quoted(resource));
        match self.server.run(&sql, Duration::from_secs(left)).await {
            Ok(rows) => match value(&rows) {
                Some("1") => Acquisition::Granted(self.lease(resource)),
                Some(_) => Acquisition::Refused("held by another session".into()),
                None => Acquisition::Refused("the wait was ended".into()),
            },
            Err(error) if error.may_have_applied() => Acquisition::Unknown(error.to_string()),
            Err(error) => Acquisition::Refused(error.to_string().into()),
        }
    }

    fn lease(&self, resource: &str) -> Lease {
        let owner = self.server.id().unwrap_or_default().to_string().into();
        Lease { resource: resource.to_owned(), owner, token: None, valid_until: None }
    }

    fn is_same(&self, lease: &Lease) -> bool {
        let own = self.server.id().map(|id| id.to_string());
        own.as_deref().map(str::as_bytes) == Some(&lease.owner[..])
    }
}

impl Algorithm for GetLock {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let deadline = self.env.monotonic_clock().plus(self.settings.acquire_timeout);
        Retry::start(&self.env, &self.settings)
            .until_granted(async || self.attempt(resource, deadline).await)
            .await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        if !self.is_same(&lease) {
            return Release::NotHeld;
        }
        let sql = format!("SELECT RELEASE_LOCK({})", quoted(&lease.resource));
        match self.server.bound(&sql).await {
            Ok(rows) if value(&rows) == Some("1") => Release::Released,
            Ok(_) | Err(Failure::Refused(_) | Failure::Lost(CallError::Unsent(_))) => {
                Release::NotHeld
            }
            Err(error) => Release::Unknown(error.to_string()),
        }
    }

    async fn check(&mut self, lease: &Lease) -> Check {
        let sql = format!("SELECT IS_USED_LOCK({}) = CONNECTION_ID()", quoted(&lease.resource));
        let answer = match self.is_same(lease) {
            true => self.server.bound(&sql).await,
            false => Err(CallError::Unsent(std::io::ErrorKind::NotConnected).into()),
        };
        match answer {
            Ok(rows) if value(&rows) == Some("1") => Check::Ours,
            // The lock ends with its connection.
            Ok(_) | Err(Failure::Lost(CallError::Unsent(_) | CallError::Closed(_))) => {
                self.env.note(Note::LockLost);
                Check::NotHeld
            }
            Err(error) => Check::Unknown(error.to_string()),
        }
    }

    fn usage(&self) -> Usage {
        self.usage
    }
}
