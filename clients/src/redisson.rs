//! `redisson` and its relatives: the locks of the Java library Redisson.
//!
//! Source: article 004 names the library; the model follows its source at version 4.7.1-SNAPSHOT of
//! August 2026 (`RedissonLock`, `RedissonFairLock`, `RedissonRedLock`, `LockTask`). A lock is a
//! hash from `uuid:thread` to a count; Lua takes, releases and renews it: `script.rs`. A process
//! that finds it taken subscribes to its channel and waits for a message, but no longer than the
//! rest of the lock's time.
//!
//! The calls are `tryLock(wait, ...)` with the timeout of the acquire as `wait`:
//!
//! - `redisson`: no lease is given, so the lock lives `lockWatchdogTimeout` (30 s in the library,
//!   the ttl here) and is renewed every third of that. Like the library, **the watchdog does not
//!   report** that the lock is gone: it stops, and the holder works on.
//! - `redisson-lease`: a lease of a ttl is given, so nothing is renewed.
//! - `redisson-wait`: as `redisson`, and with replicas, `WAIT` after the acquire: a lock that
//!   no replica has is released.
//! - `redisson-fair` ([`fair`]) and `redisson-redlock` ([`red_lock`]).
//!
//! Differences from the library: a subscription has its own connection, opened when a process
//! has to wait; spans are measured by the monotonic clock, not by `currentTimeMillis`; scripts go
//! by digest; the latch that makes a resent unlock harmless is left out, because the library
//! resends an unlock only after a `WAIT` that failed; the `WAIT` that follows a renewal and an
//! unlock is left out. The owner that a lease names is what the hash reads when the lock is taken:
//! `uuid:thread=1`. It is the same for all acquires of a thread. Threads of one process share its
//! uuid and nothing else; each renews, and listens for, its own locks.

pub mod fair;
pub mod red_lock;
pub mod rlock;
pub mod script;

use crate::env::{BoxFuture, Env};
use crate::lock::{
    Acquisition, Definition, Deployment, Lease, Lock, Release, Servers, Settings, Usage,
};
use rlock::{Habits, RLock, fresh_uuid};
use std::rc::Rc;
use std::time::Duration;

/// The version that they all model.
pub const MODELS: Option<&str> = Some("Redisson 4.7.1-SNAPSHOT (August 2026)");

/// The entry in the table of locks.
pub const DEFINITION: Definition = Definition {
    name: "redisson",
    about: "a hash of counts set by Lua; waits by publish/subscribe; a watchdog renews it every \
            third of its ttl",
    deployment: Deployment::Primary,
    has_tokens: false,
    is_fair: false,
    models: MODELS,
    build: |env, servers, settings| build(env, servers, settings, Habits::default()),
};

/// The lock with a stated lease.
pub const LEASE: Definition = Definition {
    name: "redisson-lease",
    about: "redisson with a lease given by the caller, so no watchdog renews it",
    build: |env, servers, settings| {
        build(env, servers, settings, Habits { lease: Some(settings.ttl), ..Habits::default() })
    },
    ..DEFINITION
};

/// The lock that replicas must acknowledge.
pub const WAIT: Definition = Definition {
    name: "redisson-wait",
    about: "redisson that releases a lock unless a replica acknowledges it (WAIT)",
    build: |env, servers, settings| {
        let is_replicated = matches!(servers, Servers::Sentinels { .. });
        build(env, servers, settings, Habits { synchronous: is_replicated, ..Habits::default() })
    },
    ..DEFINITION
};

fn build(env: Env, servers: &Servers, settings: &Settings, habits: Habits) -> Box<dyn Lock> {
    let (own_servers, own_settings) = (servers.clone(), settings.clone());
    let open = Rc::new(move |env: &Env| crate::Session::primary(env, &own_servers, &own_settings));
    let (uuid, wait) = (fresh_uuid(&env), settings.acquire_timeout);
    Box::new(Redisson { lock: RLock::new(uuid, env, settings, habits, open), wait })
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

    fn of_thread(&self, env: Env) -> Option<Box<dyn Lock>> {
        Some(Box::new(Redisson { lock: self.lock.of_thread(env), wait: self.wait }))
    }

    fn usage(&self) -> Usage {
        Usage { renews: self.lock.renews(), nests: true, ..Usage::PLAIN }
    }
}

#[cfg(test)]
mod tests;
