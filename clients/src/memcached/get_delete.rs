//! `memcached-get-delete`: `add` takes the lock; the holder checks the owner before `delete`.
//!
//! Source: article 001, "Problems", second. **`get` and `delete` are two commands**, so `delete`
//! may remove another process's lock. `memcached-cas` fixes this.

use super::{Base, released, taken, whole_seconds};
use crate::call_error::CallError;
use crate::env::BoxFuture;
use crate::lock::{Acquisition, Definition, Deployment, Lease, Lock, Release};
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

impl Lock for GetDelete {
    fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition> {
        let retry = Retry::start(&self.0.env, &self.0.settings);
        Box::pin(retry.until_granted(async || self.attempt(resource).await))
    }

    fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release> {
        Box::pin(async move { released(self.remove(&lease).await) })
    }
}
