//! `etcd-mutex`: the mutex of etcd's Go client, with a session for each acquisition.
//!
//! ```text
//! key = <name>/<lease in hex>
//! txn  if create_revision(key) = 0  then put key, get first below <name>/
//!      else get key, get first below <name>/
//! the first below <name>/ is our own: held
//! else until none is in front: get last created below <name>/ before our own,
//!      watch it until it is deleted; then get key: gone means that the session has expired
//! ```
//!
//! Source: etcd 3.5.0, `client/v3/concurrency/mutex.go` (`Mutex.Lock`, `Unlock`), as in `etcdctl
//! lock`. A release that finds no key returns `NotHeld`; the library ignores a missing key.
//!
//! - `etcd-mutex-unchecked` is the mutex of 3.4, which **does not check its own key after the
//!   wait**. If the waiter's lease has ended, another process may hold the lock (etcd issue 11456;
//!   fixed by `b14c7cd44` in 3.5.0).
//! - The holder of `etcd-mutex-done` leaves its critical section when `Session.Done` fires.
//! - In `etcd-mutex-fencing` the storage checks the revision that created the key, as etcd's
//!   documentation advises.

use super::gateway::{Failure, Gateway};
use super::keys::{self, Place};
use super::session::Session;
use super::{lease_of, name_of};
use crate::env::{Env, Monotonic, Note};
use crate::lock::{
    Acquisition, Algorithm, Definition, Deployment, FencingToken, Lease, Lock, Release, ServerLock,
    Servers, Settings, Usage,
};
use std::rc::Rc;
use std::time::Duration;

pub const DEFINITION: Definition = Definition {
    name: "etcd-mutex",
    about: "etcd's concurrency.Mutex: keys below a prefix; the oldest key holds the lock, and \
            each waiter watches the key before its own",
    deployment: Deployment::Etcd(ServerLock::Unchecked),
    has_tokens: false,
    is_fair: false,
    models: Some("etcd 3.5.0, client/v3/concurrency"),
    build: |env, servers, settings| build(&env, servers, settings, Traits::CURRENT),
};

pub const OLD: Definition = Definition {
    name: "etcd-mutex-unchecked",
    about: "etcd-mutex as in etcd 3.4, which does not check its own key after waiting",
    models: Some("etcd 3.4.23, clientv3/concurrency"),
    build: |env, servers, settings| {
        build(&env, servers, settings, Traits { checks_key: false, ..Traits::CURRENT })
    },
    ..DEFINITION
};

pub const DONE: Definition = Definition {
    name: "etcd-mutex-done",
    about: "etcd-mutex whose holder leaves when its session ends",
    build: |env, servers, settings| {
        build(&env, servers, settings, Traits { leaves: true, ..Traits::CURRENT })
    },
    ..DEFINITION
};

pub const FENCING: Definition = Definition {
    name: "etcd-mutex-fencing",
    about: "etcd-mutex with the create revision of its key as fencing token",
    has_tokens: true,
    build: |env, servers, settings| {
        build(&env, servers, settings, Traits { has_tokens: true, ..Traits::CURRENT })
    },
    ..DEFINITION
};

#[derive(Clone, Copy)]
struct Traits {
    checks_key: bool,
    leaves: bool,
    has_tokens: bool,
}

impl Traits {
    const CURRENT: Traits = Traits { checks_key: true, leaves: false, has_tokens: false };
}

fn build(env: &Env, servers: &Servers, settings: &Settings, traits: Traits) -> Box<dyn Lock> {
    let gateway = Rc::new(Gateway::new(env, servers, settings));
    let (ttl, acquire_timeout) = (settings.ttl, settings.acquire_timeout);
    Box::new(Mutex { gateway, ttl, acquire_timeout, traits, session: None })
}

struct Mutex {
    gateway: Rc<Gateway>,
    ttl: Duration,
    acquire_timeout: Duration,
    traits: Traits,
    session: Option<Session>,
}

enum AcquireFailure {
    Late,
    SessionExpired,
    Failed(Failure),
}

impl From<Failure> for AcquireFailure {
    fn from(failure: Failure) -> AcquireFailure {
        AcquireFailure::Failed(failure)
    }
}

impl Mutex {
    async fn wait(
        &self,
        prefix: &str,
        key: &str,
        revision: i64,
        deadline: Monotonic,
    ) -> Result<i64, AcquireFailure> {
        while let Some((last, seen)) =
            keys::last_key_before(&self.gateway, prefix, revision, deadline).await?
        {
            self.gateway.wait_for_deletion(&last, seen).await?;
        }
        if self.traits.checks_key && !keys::exists(&self.gateway, key, deadline).await? {
            return Err(AcquireFailure::SessionExpired);
        }
        Ok(revision)
    }
}

impl Algorithm for Mutex {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let env = self.gateway.env().clone();
        let deadline = env.monotonic_clock().plus(self.acquire_timeout);
        let session = match Session::open(&self.gateway, self.ttl, deadline).await {
            Ok(session) => session,
            // The session has no keys yet, so even a granted lease blocks no other process.
            Err(failure) => return Acquisition::Refused(failure.to_string().into()),
        };
        let prefix = format!("{resource}/");
        let key = format!("{prefix}{}", name_of(session.lease));
        let outcome =
            match keys::enter(&self.gateway, (&prefix, &key), session.lease, deadline).await {
                Ok(Place { revision, is_first: true }) => Some(Ok(revision)),
                Ok(Place { revision, is_first: false }) => {
                    let left = deadline.since(env.monotonic_clock());
                    env.timeout(left, self.wait(&prefix, &key, revision, deadline)).await
                }
                Err(failure) => Some(Err(failure.into())),
            };
        let missed = match outcome {
            Some(Ok(revision)) => {
                let token = u64::try_from(revision).ok().filter(|_| self.traits.has_tokens);
                let lease = lease_of(resource, session.lease, token.map(FencingToken));
                self.session = Some(session);
                return Acquisition::Granted(lease);
            }
            Some(Err(missed)) => missed,
            None => AcquireFailure::Late,
        };
        let why = match missed {
            AcquireFailure::Late => "held by another".to_owned(),
            AcquireFailure::SessionExpired => "mutex: session is expired".to_owned(),
            AcquireFailure::Failed(failure) => failure.to_string(),
        };
        let is_out = keys::delete(&self.gateway, &key).await.is_ok();
        match (is_out, session.close().await) {
            (true, _) | (_, Ok(())) => Acquisition::Refused(why.into()),
            _ => Acquisition::Unknown(why),
        }
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let Some(session) = self.session.take() else { return Release::NotHeld };
        let key = format!("{}/{}", lease.resource, name_of(session.lease));
        let unlocked = keys::delete(&self.gateway, &key).await;
        let closed = session.close().await;
        match (unlocked, closed) {
            (Ok(true), _) => Release::Released,
            (Ok(false), _) => Release::NotHeld,
            (Err(_), Ok(())) => Release::Released,
            (Err(failure), Err(_)) => Release::Unknown(failure.to_string()),
        }
    }

    async fn lost(&mut self, _: &Lease) {
        let Some(session) = self.session.as_ref().filter(|_| self.traits.leaves) else {
            return std::future::pending().await;
        };
        session.done().await;
        self.gateway.env().note(Note::LockLost);
    }

    fn usage(&self) -> Usage {
        Usage { leaves: self.traits.leaves, renews: true, ..Usage::PLAIN }
    }
}
