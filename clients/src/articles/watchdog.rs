//! `watchdog` and its variants: a background task renews the lease.
//!
//! Source: article 001, "Concurrency is still possible". The holder's daemon extends a lock that is
//! about to expire: with a ttl of 30 s it calls `expire` with 20 s at the 29th second, and then
//! every 20 s. If the node dies, the lock expires.
//!
//! - `watchdog` renews a [`single_node`](crate::single_node) lock at intervals of a third of the
//!   ttl by compare-and-expire, until the release. It reports a loss if a renewal finds another
//!   value or fails a ttl or more after the last success. **A hung holder keeps the lock forever.**
//! - `watchdog-capped` stops renewing after [`LEASES_MAX`] ttls.
//! - `watchdog-expire` is the daemon of the article, with its intervals scaled to the ttl. **Each
//!   renewal extends the lock only to the time of the next renewal. EXPIRE ignores the owner.**
//! - `watchdog-resurrecting` **renews by GET, a comparison in the client, and SET**. The SET may
//!   arrive after the release.
//! - `watchdog-unstopped` **renews by EXPIRE and never stops the daemon**, which then extends other
//!   processes' locks.

use super::{Base, entry};
use crate::attempt::take;
use crate::call_error::CallError;
use crate::commands::{expire_ms, get, set_px};
use crate::env::{Env, Monotonic, Note, Spawned};
use crate::lock::{
    Acquisition, Algorithm, Definition, Lease, Lock, Release, Servers, Settings, Usage,
};
use crate::owned_key::{extend_if_owned, release};
use crate::retry::Retry;
use crate::session::Session;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::time::Duration;

/// Number of ttls after which `watchdog-capped` stops renewing.
pub const LEASES_MAX: u32 = 6;

pub const DEFINITION: Definition = entry(
    "watchdog",
    "single-node with a task that renews the lease at intervals of a third of the ttl until the \
     release",
    |env, servers, settings| lock(env, servers, settings, default_policy(settings.ttl)),
);

pub const CAPPED: Definition = Definition {
    name: "watchdog-capped",
    about: "watchdog that stops renewing after six ttls and reports the loss before the lock \
            expires",
    build: |env, servers, settings| {
        lock(
            env,
            servers,
            settings,
            RenewalPolicy { leases_max: Some(LEASES_MAX), ..default_policy(settings.ttl) },
        )
    },
    ..DEFINITION
};

pub const EXPIRE: Definition = Definition {
    name: "watchdog-expire",
    about: "watchdog that renews for 2/3 of the ttl by a plain EXPIRE: first at 29/30 of the ttl, \
            then every 2/3 of the ttl",
    build: |env, servers, settings| {
        let (first, every) = (settings.ttl * 29 / 30, settings.ttl * 2 / 3);
        let policy = RenewalPolicy {
            renewal: Renewal::Expire,
            first,
            every,
            lease_length: every,
            ..default_policy(settings.ttl)
        };
        lock(env, servers, settings, policy)
    },
    ..DEFINITION
};

pub const RESURRECTING: Definition = Definition {
    name: "watchdog-resurrecting",
    about: "watchdog that renews by GET, a comparison in the client, and SET",
    build: |env, servers, settings| {
        lock(
            env,
            servers,
            settings,
            RenewalPolicy { renewal: Renewal::GetThenSet, ..default_policy(settings.ttl) },
        )
    },
    ..DEFINITION
};

pub const UNSTOPPED: Definition = Definition {
    name: "watchdog-unstopped",
    about: "watchdog that renews by a plain EXPIRE and continues after the release",
    build: |env, servers, settings| {
        let policy = RenewalPolicy {
            renewal: Renewal::Expire,
            end: End::AtProcessExit,
            ..default_policy(settings.ttl)
        };
        lock(env, servers, settings, policy)
    },
    ..DEFINITION
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct RenewalPolicy {
    renewal: Renewal,
    first: Duration,
    every: Duration,
    lease_length: Duration,
    end: End,
    leases_max: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Renewal {
    IfOwned,
    /// Sends PEXPIRE instead of the article's EXPIRE, to support fractions of a second.
    Expire,
    GetThenSet,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    AtRelease,
    AtProcessExit,
}

fn default_policy(ttl: Duration) -> RenewalPolicy {
    let every = ttl / 3;
    RenewalPolicy {
        renewal: Renewal::IfOwned,
        first: every,
        every,
        lease_length: ttl,
        end: End::AtRelease,
        leases_max: None,
    }
}

fn lock(env: Env, servers: &Servers, settings: &Settings, policy: RenewalPolicy) -> Box<dyn Lock> {
    let ttl_ms = settings.ttl.as_millis().to_string();
    let base = Base::new(env, servers, settings);
    Box::new(Watched { base, servers: servers.clone(), ttl_ms, policy, renewers: BTreeMap::new() })
}

struct Watched {
    base: Base,
    servers: Servers,
    ttl_ms: String,
    policy: RenewalPolicy,
    renewers: BTreeMap<Bytes, Spawned>,
}

struct Renewer {
    env: Env,
    redis: Session,
    policy: RenewalPolicy,
    resource: String,
    owner: Bytes,
    ttl: Duration,
    granted: Monotonic,
    confirmed: Monotonic,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Renewed {
    Confirmed,
    Refused,
    Ignored,
}

impl Watched {
    fn watch(&mut self, lease: &Lease, sent: Monotonic) {
        let Base { env, settings, .. } = &self.base;
        let dog = Renewer {
            redis: Session::primary(env, &self.servers, settings),
            env: env.clone(),
            policy: self.policy,
            resource: lease.resource.clone(),
            owner: lease.owner.clone(),
            ttl: settings.ttl,
            granted: sent,
            confirmed: sent,
        };
        let task = env.spawn(dog.keep_renewing());
        if self.policy.end == End::AtRelease {
            self.renewers.insert(lease.owner.clone(), task);
        }
    }
}

impl Renewer {
    async fn keep_renewing(mut self) {
        let mut pause = self.policy.first;
        loop {
            self.env.sleep(pause).await;
            if self.is_past_its_cap() {
                // Stop 1 % early, because the client's clock may run slower than the server's.
                let end = self.confirmed.plus(self.ttl * 99 / 100);
                self.env.sleep(end.since(self.env.monotonic_clock())).await;
                return self.env.note(Note::LockLost);
            }
            if self.renew().await == Renewed::Refused {
                return self.env.note(Note::LockLost);
            }
            pause = self.policy.every;
        }
    }

    fn is_past_its_cap(&self) -> bool {
        let held = self.env.monotonic_clock().since(self.granted);
        self.policy.leases_max.is_some_and(|leases| held >= self.ttl * leases)
    }

    async fn renew(&mut self) -> Renewed {
        let sent = self.env.monotonic_clock();
        let outcome = match self.policy.renewal {
            Renewal::Expire => {
                let _ = expire_ms(&mut self.redis, &self.resource, self.policy.lease_length).await;
                return Renewed::Ignored;
            }
            Renewal::IfOwned => self.extend().await,
            Renewal::GetThenSet => self.get_then_set().await,
        };
        match outcome {
            Ok(true) => {
                self.confirmed = sent;
                Renewed::Confirmed
            }
            Ok(false) => Renewed::Refused,
            Err(_) if self.env.monotonic_clock().since(self.confirmed) >= self.ttl => {
                Renewed::Refused
            }
            Err(_) => Renewed::Ignored,
        }
    }

    async fn extend(&mut self) -> Result<bool, CallError> {
        let lasts_ms = self.policy.lease_length.as_millis().to_string();
        extend_if_owned(&mut self.redis, &self.resource, &self.owner, &lasts_ms).await
    }

    async fn get_then_set(&mut self) -> Result<bool, CallError> {
        if get(&mut self.redis, &self.resource).await?.as_ref() != Some(&self.owner) {
            return Ok(false);
        }
        set_px(&mut self.redis, &self.resource, &self.owner, self.policy.lease_length)
            .await
            .map(|()| true)
    }
}

impl Algorithm for Watched {
    fn usage(&self) -> Usage {
        Usage { renews: true, ..Usage::PLAIN }
    }

    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let Base { env, settings, redis } = &mut self.base;
        let ttl_ms = &self.ttl_ms;
        let mut sent = env.monotonic_clock();
        let attempt = async || {
            sent = env.monotonic_clock();
            take(env, settings, redis, resource, ttl_ms).await
        };
        let outcome = Retry::start(env, settings).until_granted(attempt).await;
        if let Acquisition::Granted(lease) = &outcome {
            self.watch(lease, sent);
        }
        outcome
    }

    async fn release(&mut self, lease: Lease) -> Release {
        if let Some(task) = self.renewers.remove(&lease.owner) {
            task.abort();
        }
        let Base { env, settings, redis } = &mut self.base;
        release(env, settings, redis, &lease).await
    }
}

#[cfg(test)]
mod tests;
