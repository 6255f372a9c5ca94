//! `redisson` and its relatives: the locks of the Java library Redisson.
//!
//! Source: Redisson 4.7.1-SNAPSHOT of August 2026 (`RedissonLock`, `RedissonFairLock`,
//! `RedissonRedLock`, `LockTask`). The calls are `tryLock(wait, ...)` with the acquire timeout as
//! `wait`. The ttl replaces `lockWatchdogTimeout` (30 s). Differences from the library: durations
//! are on the monotonic clock, and renewals and unlocks send no WAIT.

pub mod fair;
pub mod red_lock;
pub mod rlock;
pub mod script;

use crate::env::{BoxFuture, Env};
use crate::lock::{
    Acquisition, Definition, Deployment, Lease, Lock, Release, Servers, Settings, Usage,
};
use rlock::{LockOptions, RLock, fresh_uuid};
use std::rc::Rc;
use std::time::Duration;

/// Version that all these locks model.
pub const MODELS: Option<&str> = Some("Redisson 4.7.1-SNAPSHOT (August 2026)");

/// Definition of `redisson`.
pub const DEFINITION: Definition = Definition {
    name: "redisson",
    about: "a hash of counts set by Lua; waits by publish/subscribe; a watchdog renews it every \
            third of its ttl",
    deployment: Deployment::Primary,
    has_tokens: false,
    is_fair: false,
    models: MODELS,
    build: |env, servers, settings| build(env, servers, settings, LockOptions::default()),
};

/// Definition of `redisson-lease`, which has a fixed lease.
pub const LEASE: Definition = Definition {
    name: "redisson-lease",
    about: "redisson with a lease given by the caller, so no watchdog renews it",
    build: |env, servers, settings| {
        build(
            env,
            servers,
            settings,
            LockOptions { lease: Some(settings.ttl), ..LockOptions::default() },
        )
    },
    ..DEFINITION
};

/// Definition of `redisson-wait`, which replicas must acknowledge.
pub const WAIT: Definition = Definition {
    name: "redisson-wait",
    about: "redisson that releases a lock unless a replica acknowledges it (WAIT)",
    build: |env, servers, settings| {
        let is_replicated = matches!(servers, Servers::Sentinels { .. });
        build(
            env,
            servers,
            settings,
            LockOptions { synchronous: is_replicated, ..LockOptions::default() },
        )
    },
    ..DEFINITION
};

fn build(env: Env, servers: &Servers, settings: &Settings, options: LockOptions) -> Box<dyn Lock> {
    let (own_servers, own_settings) = (servers.clone(), settings.clone());
    let open = Rc::new(move |env: &Env| crate::Session::primary(env, &own_servers, &own_settings));
    let (uuid, wait) = (fresh_uuid(&env), settings.acquire_timeout);
    Box::new(Redisson { lock: RLock::new(uuid, env, settings, options, open), wait })
}

struct Redisson {
    lock: RLock,
    wait: Duration,
}

impl Lock for Redisson {
    fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition> {
        Box::pin(self.lock.try_lock(resource, self.wait))
    }

    fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release> {
        Box::pin(async move { self.lock.unlock(&lease.resource).await })
    }

    fn for_thread(&self, env: Env) -> Option<Box<dyn Lock>> {
        Some(Box::new(Redisson { lock: self.lock.for_thread(env), wait: self.wait }))
    }

    fn usage(&self) -> Usage {
        Usage { renews: self.lock.has_watchdog(), nests: true, ..Usage::PLAIN }
    }
}

#[cfg(test)]
mod tests;
