//! `pg-advisory`: a session-level advisory lock (`pg_try_advisory_lock`, `pg_advisory_unlock`).
//! Source: PostgreSQL 15's documentation, "Advisory Locks". One mistake remains: **the holder does
//! not notice that its session has ended** until it releases the lock. The owner value is the
//! process id of the backend, as in `pg_locks`.

use super::protocol::{Kind, Parameter};
use super::session::{Failure, Session};
use super::{connection, lease};
use crate::call_error::CallError;
use crate::env::Env;
use crate::lock::{
    Acquisition, Algorithm, Definition, Deployment, Lease, LockForm, Release, Servers, Settings,
};
use crate::retry::Retry;
use std::time::Duration;

pub const DEFINITION: Definition = Definition {
    name: "pg-advisory",
    about: "PostgreSQL: pg_try_advisory_lock for the session; released by pg_advisory_unlock",
    deployment: Deployment::PostgreSql(LockForm::Connection),
    has_tokens: false,
    is_fair: false,
    models: None,
    build: |env, servers, settings| Box::new(Advisory::new(env, servers, settings)),
};

struct Advisory {
    env: Env,
    settings: Settings,
    timeout: Duration,
    server: Session,
}

/// Returns the 64-bit FNV-1a hash of the resource's name.
pub fn number(resource: &str) -> i64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    resource.bytes().fold(0xcbf2_9ce4_8422_2325, mix) as i64
}

impl Advisory {
    fn new(env: Env, servers: &Servers, settings: &Settings) -> Advisory {
        let server = connection(&env, servers, settings);
        let timeout = settings.command_timeout;
        Advisory { env, settings: settings.clone(), timeout, server }
    }

    async fn attempt(&mut self, resource: &str) -> Acquisition {
        let key = Parameter { kind: Kind::Int8, text: number(resource).to_string() };
        match self.server.run("SELECT pg_try_advisory_lock($1)", &[key]).await {
            Ok(done) if done.is_true() => {
                let backend = self.server.backend().unwrap_or_default();
                Acquisition::Granted(lease(resource, backend.to_string()))
            }
            Ok(_) => Acquisition::Refused("held by another session".into()),
            Err(error) if error.may_have_applied() => Acquisition::Unknown(error.to_string()),
            Err(error) => Acquisition::Refused(error.to_string().into()),
        }
    }
}

impl Algorithm for Advisory {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        Retry::start(&self.env, &self.settings)
            .until_granted(async || self.attempt(resource).await)
            .await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        if self.server.backend().map(|backend| backend.to_string()).as_deref().map(str::as_bytes)
            != Some(&lease.owner[..])
        {
            return Release::NotHeld;
        }
        let key = Parameter { kind: Kind::Int8, text: number(&lease.resource).to_string() };
        match self.server.bound("SELECT pg_advisory_unlock($1)", &[key], self.timeout).await {
            Ok(done) if done.is_true() => Release::Released,
            Ok(_) | Err(Failure::Refused(_) | Failure::Lost(CallError::Unsent(_))) => {
                Release::NotHeld
            }
            Err(error) => Release::Unknown(error.to_string()),
        }
    }
}
