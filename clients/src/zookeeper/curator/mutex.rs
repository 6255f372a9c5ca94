//! `curator-mutex` and its variants: Curator's reentrant lock.
//!
//! Source: Curator 5.4.0, `InterProcessMutex` (`internalLock`, `release`), with the queue of
//! [`super::lock_internals`]. **The lock does not check that its session is alive**. A release that
//! finds no node may return `NotHeld`; the library ignores a missing node.
//!
//! - The holder of `curator-suspended` leaves its critical section at SUSPENDED and at LOST.
//!   Curator's documentation recommends watching for both.
//! - `curator-fencing` passes the czxid of its node to the storage as a fencing token.
//! - `curator-unprotected` creates its node without `withProtection()` (**planted**), so after a
//!   lost reply it creates another node.
//! - `curator-any-session` accepts a node of an earlier session (Curator 4.2.0, CURATOR-498).
//! - `curator-unguaranteed` deletes its node without `guaranteed()` (**planted**), so the node may
//!   remain after a connection loss.

use super::create::Protection;
use super::lock_internals::LockInternals;
use super::{Curator, Deletion};
use crate::env::{Env, Note};
use crate::lock::{
    Acquisition, Algorithm, Definition, Deployment, FencingToken, Lease, Lock, Release, Servers,
    Settings, Usage,
};
use crate::zookeeper::ensemble::Ensemble;
use crate::zookeeper::protocol::ZooKeeperError;
use crate::zookeeper::session::Session;
use crate::zookeeper::shared::SessionOptions;
use crate::zookeeper::{failed, lease_of, parent_of, released};
use std::collections::BTreeMap;
use std::time::Duration;

pub const DEFINITION: Definition = Definition {
    name: "curator-mutex",
    about: "Curator's InterProcessMutex: ephemeral sequential nodes with a GUID; each waiter \
            watches its predecessor",
    deployment: Deployment::ZooKeeper,
    has_tokens: false,
    is_fair: true,
    models: super::MODELS,
    build: |env, servers, settings| build(env, servers, settings, Traits::CURATOR),
};

pub const SUSPENDED: Definition = Definition {
    name: "curator-suspended",
    about: "curator-mutex whose holder leaves when the connection is suspended or lost",
    build: |env, servers, settings| {
        build(env, servers, settings, Traits { leaves: true, ..Traits::CURATOR })
    },
    ..DEFINITION
};

pub const FENCING: Definition = Definition {
    name: "curator-fencing",
    about: "curator-mutex with the czxid of the holder's node as fencing token",
    has_tokens: true,
    build: |env, servers, settings| {
        build(env, servers, settings, Traits { fences: true, ..Traits::CURATOR })
    },
    ..DEFINITION
};

pub const UNPROTECTED: Definition = Definition {
    name: "curator-unprotected",
    about: "curator-mutex without protection: after a lost reply it creates a second node",
    build: |env, servers, settings| {
        build(env, servers, settings, Traits { protection: Protection::None, ..Traits::CURATOR })
    },
    ..DEFINITION
};

pub const ANY_SESSION: Definition = Definition {
    name: "curator-any-session",
    about: "curator-mutex that uses a node created by an earlier session",
    models: Some("Curator 5.4.0, except that it finds a protected node as Curator 4.2.0 does"),
    build: |env, servers, settings| {
        let traits = Traits { protection: Protection::AnySession, ..Traits::CURATOR };
        build(env, servers, settings, traits)
    },
    ..DEFINITION
};

pub const UNGUARANTEED: Definition = Definition {
    name: "curator-unguaranteed",
    about: "curator-mutex whose release gives up when the connection is lost; its node stays",
    build: |env, servers, settings| {
        build(env, servers, settings, Traits { deletion: Deletion::Once, ..Traits::CURATOR })
    },
    ..DEFINITION
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Traits {
    protection: Protection,
    deletion: Deletion,
    leaves: bool,
    fences: bool,
}

impl Traits {
    const CURATOR: Traits = Traits {
        protection: Protection::SameSession,
        deletion: Deletion::Guaranteed,
        leaves: false,
        fences: false,
    };
}

fn build(env: Env, servers: &Servers, settings: &Settings, traits: Traits) -> Box<dyn Lock> {
    let ensemble = Ensemble::new(&env, servers, settings, SessionOptions::JAVA);
    let curator = Curator::start(&env, ensemble, settings);
    let wait = settings.acquire_timeout;
    Box::new(Mutex { env, curator, traits, wait, queues: BTreeMap::new(), held: None })
}

struct Mutex {
    env: Env,
    curator: Curator,
    traits: Traits,
    wait: Duration,
    queues: BTreeMap<String, LockInternals>,
    held: Option<LockData>,
}

struct LockData {
    lease: Lease,
    path: String,
    count: usize,
    interruptions: u64,
}

impl Mutex {
    fn queue(&mut self, resource: &str) -> &LockInternals {
        let Mutex { curator, traits, .. } = self;
        self.queues.entry(resource.to_owned()).or_insert_with(|| {
            let Traits { protection, deletion, .. } = *traits;
            LockInternals::new(curator.clone(), parent_of(resource), protection, deletion)
        })
    }

    async fn enter(&mut self, resource: &str, path: String) -> Acquisition {
        let interruptions = self.curator.interruptions();
        let token = match self.token(&path).await {
            Ok(token) => token,
            Err(error) => return self.give_back(resource, &path, &error).await,
        };
        let lease = lease_of(resource, &parent_of(resource), &path, token);
        self.held = Some(LockData { lease: lease.clone(), path, count: 1, interruptions });
        Acquisition::Granted(lease)
    }

    async fn token(&self, path: &str) -> Result<Option<FencingToken>, ZooKeeperError> {
        if !self.traits.fences {
            return Ok(None);
        }
        let stat =
            self.curator.call(async |session: Session| session.get_data(path, None).await).await?;
        Ok(Some(FencingToken(stat.czxid.unsigned_abs())))
    }

    async fn give_back(
        &mut self,
        resource: &str,
        path: &str,
        error: &ZooKeeperError,
    ) -> Acquisition {
        match self.queue(resource).delete(path).await {
            Ok(_) => Acquisition::Refused(format!("no token: {error}").into()),
            Err(error) => failed(&error),
        }
    }

    async fn release_one(&mut self) -> Release {
        let Some(held) = &mut self.held else { return Release::NotHeld };
        held.count -= 1;
        if held.count > 0 {
            return Release::Released;
        }
        let Some(LockData { lease, path, .. }) = self.held.take() else { return Release::NotHeld };
        released(self.queue(&lease.resource).delete(&path).await)
    }
}

impl Algorithm for Mutex {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        if let Some(held) = &mut self.held {
            held.count += 1;
            return Acquisition::Granted(held.lease.clone());
        }
        let wait = self.wait;
        match self.queue(resource).attempt_lock(wait).await {
            Ok(Some(path)) => self.enter(resource, path).await,
            Ok(None) => Acquisition::Refused("held by another".into()),
            Err(error) => failed(&error),
        }
    }

    async fn release(&mut self, _: Lease) -> Release {
        self.release_one().await
    }

    async fn lost(&mut self, _: &Lease) {
        let Some(held) = self.held.as_ref().filter(|_| self.traits.leaves) else {
            return std::future::pending().await;
        };
        self.curator.wait_for_interruption_after(held.interruptions).await;
        self.env.note(Note::LockLost);
    }

    fn usage(&self) -> Usage {
        Usage { nests: true, leaves: self.traits.leaves, ..Usage::PLAIN }
    }
}
