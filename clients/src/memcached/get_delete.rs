//! `memcached-get-delete`: `add` takes the lock; the holder checks the owner before `delete`.
//! Source: article 001, "Problems", 2. **`get` and `delete` are two commands**, so `delete`
//! may remove another process's lock. `memcached-cas` fixes this.

use super::{Base, released, taken, whole_seconds};
use crate::call_error::CallError;
use crate::lock::{Acquisition, Algorithm, Definition, Deployment, Lease, Release};
use crate::owned_key::fresh_owner;
use crate::retry::Retry;

pub const DEFINITION: Definition = Definition {
    name: "memcached-get-delete",
    about: "memcached: add key owner ttl; released by get, a comparison in the client, and delete",
    deployment: Deployment::Memcached,
    has_tokens: false,
    is_fair: false,
    models: None,
    build: |env, servers, settings| Box::new(GetDelete(Base::new(env, servers, settings))),
};

struct GetDelete(Base);

impl GetDelete {
    async fn attempt(&mut self, resource: &str) -> Acquisition {
        let owner = fresh_owner(&self.0.env);
        let seconds = whole_seconds(self.0.settings.ttl);
        taken(self.0.add(resource, &owner, seconds).await, resource, owner)
    }

    async fn remove(&mut self, lease: &Lease) -> Result<bool, CallError> {
        let found = self.0.gets(&lease.resource).await?;
        if found.is_none_or(|item| item.value != lease.owner) {
            return Ok(false);
        }
        self.0.delete(&lease.resource).await
    }
}

impl Algorithm for GetDelete {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        Retry::start(&self.0.env, &self.0.settings)
            .until_granted(async || self.attempt(resource).await)
            .await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        released(self.remove(&lease).await)
    }
}
