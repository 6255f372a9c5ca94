//! `redisson` and its variants: the locks of the Java library Redisson.
//!
//! Source: version 4.7.1-SNAPSHOT of August 2026 (`RedissonLock`, `RedissonFairLock`,
//! `RedissonRedLock`, `LockTask`); article 004 names the library. A lock is a hash from
//! `uuid:thread` to a count, which Lua scripts change (`script.rs`). A process that finds the lock
//! taken waits for a message, but no longer than the time that the script returns. The calls are
//! `tryLock(wait, ...)` with the acquire timeout as `wait`:
//!
//! - `redisson` has no lease. The lock lives for `lockWatchdogTimeout` (30 s in the library, the
//!   ttl in this model), and a watchdog renews it at intervals of a third of that time. A watchdog
//!   that finds the lock gone **stops without a report**, and the holder continues.
//! - `redisson-lease` has a lease of one ttl, which no watchdog renews.
//! - With Sentinel, `redisson-wait` sends `WAIT` after each acquire and each release if the primary
//!   has replicas, and releases a lock that no replica acknowledges. Version 4.7.0 does so only if
//!   the server knows `WAITAOF` (Redis 7.2). **A client that once found no replica never sends
//!   `WAIT` again.** If the reply to an acquire is lost, the library sends the acquire again. The
//!   lock's count is then 2, and **the release does not free the lock**.
//! - `redisson-fair` and `redisson-redlock` are in [`fair`] and [`red_lock`].
//!
//! If the reply to an acquire is lost while the call is already waiting, the call **returns false,
//! even if the server granted the lock** (`RedissonLock.tryLock` catches
//! `RedisResponseTimeoutException`). If the first reply is lost, the library throws an exception.
//!
//! A release also sets a *latch*, a key that holds its result: if the same release arrives twice,
//! the script returns that result. After the reply, the client deletes the latch in the background.
//!
//! Unlike the library, the model opens separate connections for a subscription and for the latches,
//! measures durations on the monotonic clock, calls scripts by digest, and sends no `WAIT` after a
//! renewal. The owner value of every acquire is `uuid:thread=1`.

mod evaluation;
pub mod fair;
pub mod red_lock;
pub mod rlock;
pub mod script;
mod watchdog;

use crate::env::Env;
use crate::lock::{
    Acquisition, Algorithm, Definition, Deployment, Lease, Lock, Release, Servers, Settings, Usage,
};
use rlock::{LockOptions, RLock, fresh_uuid};
use std::rc::Rc;
use std::time::Duration;

pub const MODELS: Option<&str> = Some("Redisson 4.7.1-SNAPSHOT (August 2026)");

pub const DEFINITION: Definition = Definition {
    name: "redisson",
    about: "a hash of hold counts, set by Lua; waiters use publish/subscribe; a watchdog renews \
            the lease at intervals of a third of the ttl",
    deployment: Deployment::Primary,
    has_tokens: false,
    is_fair: false,
    models: MODELS,
    build: |env, servers, settings| build(env, servers, settings, LockOptions::default()),
};

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

impl Algorithm for Redisson {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        self.lock.try_lock(resource, self.wait).await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        self.lock.unlock(&lease.resource).await
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
