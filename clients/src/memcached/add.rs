//! `memcached-add`: `add` takes the lock, and `delete` releases it. Source: article 001. Two
//! mistakes remain: **`delete` ignores the owner**, and **the lock relies on the full lease**,
//! which may end almost a second early. `memcached-cas` fixes both.

use super::{Base, released, taken, whole_seconds};
use crate::lock::{Acquisition, Algorithm, Definition, Deployment, Lease, Release};
use crate::owned_key::fresh_owner;
use crate::retry::Retry;

pub const DEFINITION: Definition = Definition {
    name: "memcached-add",
    about: "memcached: add key owner ttl; released by delete without checking the owner",
    deployment: Deployment::Memcached,
    has_tokens: false,
    is_fair: false,
    models: None,
    build: |env, servers, settings| Box::new(Add(Base::new(env, servers, settings))),
};

struct Add(Base);

impl Add {
    async fn attempt(&mut self, resource: &str) -> Acquisition {
        let owner = fresh_owner(&self.0.env);
        let seconds = whole_seconds(self.0.settings.ttl);
        taken(self.0.add(resource, &owner, seconds).await, resource, owner)
    }
}

impl Algorithm for Add {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        Retry::start(&self.0.env, &self.0.settings)
            .until_granted(async || self.attempt(resource).await)
            .await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        released(self.0.delete(&lease.resource).await)
    }
}
