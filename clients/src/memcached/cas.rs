//! `memcached-cas`: `add` acquires, `gets` and `cas` release. The cas id is the fencing token.
//! Source: memcached's doc/protocol.txt. The release stores an expired item with `cas`, which fails
//! if another process has stored an item since. After a restart of the server, cas ids begin at 1
//! again. The lock adds a second to its lease, because an item may expire almost a second early.

use super::{Base, whole_seconds};
use crate::call_error::CallError;
use crate::env::Monotonic;
use crate::lock::{Acquisition, Algorithm, Definition, Deployment, FencingToken, Lease, Release};
use crate::owned_key::{RELEASE_ATTEMPTS, fresh_owner};
use crate::retry::Retry;
use bytes::Bytes;

pub const DEFINITION: Definition = Definition {
    name: "memcached-cas",
    about: "memcached: add key owner ttl; released by gets and a cas to an expired value; the cas \
            id is the token",
    deployment: Deployment::Memcached,
    has_tokens: true,
    is_fair: false,
    models: None,
    build: |env, servers, settings| Box::new(Cas(Base::new(env, servers, settings))),
};

struct Cas(Base);

impl Cas {
    async fn attempt(&mut self, resource: &str) -> Acquisition {
        let owner = fresh_owner(&self.0.env);
        let began = self.0.env.monotonic_clock();
        match self.take(resource, &owner).await {
            Ok(Taken::Ours(token)) => {
                Acquisition::Granted(self.lease(resource, owner, token, began))
            }
            Ok(Taken::Held) => Acquisition::Refused("held by another".into()),
            Ok(Taken::Lost) => Acquisition::Refused("lost as soon as it was taken".into()),
            Ok(Taken::Unconfirmed(error)) => self.undo(resource, &owner, &error).await,
            Err(error) if error.may_have_applied() => self.undo(resource, &owner, &error).await,
            Err(error) => Acquisition::Refused(error.to_string().into()),
        }
    }

    async fn undo(&mut self, resource: &str, owner: &[u8], error: &CallError) -> Acquisition {
        match self.remove(resource, owner).await {
            Ok(true) => Acquisition::Refused(error.to_string().into()),
            _ => Acquisition::Unknown(error.to_string()),
        }
    }

    fn lease(&self, resource: &str, owner: Bytes, token: FencingToken, began: Monotonic) -> Lease {
        let resource = resource.to_owned();
        let valid_until = Some(began.plus(self.0.settings.ttl));
        Lease { resource, owner, token: Some(token), valid_until }
    }

    async fn take(&mut self, resource: &str, owner: &[u8]) -> Result<Taken, CallError> {
        let seconds = whole_seconds(self.0.settings.ttl) + 1;
        if !self.0.add(resource, owner, seconds).await? {
            return Ok(Taken::Held);
        }
        let found = match self.0.gets(resource).await {
            Ok(found) => found.filter(|item| item.value == owner),
            Err(error) => return Ok(Taken::Unconfirmed(error)),
        };
        Ok(found.and_then(|item| item.cas).map_or(Taken::Lost, |id| Taken::Ours(FencingToken(id))))
    }

    async fn remove(&mut self, resource: &str, owner: &[u8]) -> Result<bool, CallError> {
        match self.0.gets(resource).await? {
            Some(item) if item.value == owner => {
                self.0.expire(resource, item.cas.unwrap_or_default()).await
            }
            _ => Ok(false),
        }
    }
}

enum Taken {
    Ours(FencingToken),
    Held,
    /// The item was stored, but was removed or replaced before the client read its cas id.
    Lost,
    /// The item was stored, but the client could not read its cas id.
    Unconfirmed(CallError),
}

impl Algorithm for Cas {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        Retry::start(&self.0.env, &self.0.settings)
            .until_granted(async || self.attempt(resource).await)
            .await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let mut lost = None;
        for attempt in 0..RELEASE_ATTEMPTS {
            if attempt > 0 {
                self.0.env.sleep(self.0.env.jitter(&self.0.settings.retry)).await;
            }
            match (self.remove(&lease.resource, &lease.owner).await, &lost) {
                (Ok(true), _) => return Release::Released,
                (Ok(false), None) => return Release::NotHeld,
                (Ok(false), Some(first)) => {
                    return Release::Unknown(format!("released or expired: {first}"));
                }
                (Err(error), _) => lost = lost.or(Some(error)),
            }
        }
        Release::Unknown(lost.map_or_else(String::new, |first| first.to_string()))
    }
}
