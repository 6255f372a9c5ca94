//! `single-node`: the lock on one Redis (Redis documentation, "Distributed Locks with Redis",
//! "Correct Implementation with a Single Instance"). The source defines no validity time for a
//! single instance, so the lease has none.

use crate::attempt::take;
use crate::env::{BoxFuture, Env};
use crate::lock::{Acquisition, Definition, Deployment, Lease, Lock, Release, Settings};
use crate::owned_key::release;
use crate::retry::Retry;
use crate::session::Session;

pub const DEFINITION: Definition = Definition {
    name: "single-node",
    about: "SET key owner NX PX ttl on one Redis; released by a Lua compare-and-delete",
    deployment: Deployment::Primary,
    has_tokens: false,
    is_fair: false,
    models: None,
    build: |env, servers, settings| {
        Box::new(SingleNode {
            redis: Session::primary(&env, servers, settings),
            ttl_ms: settings.ttl.as_millis().to_string(),
            settings: settings.clone(),
            env,
        })
    },
};

struct SingleNode {
    env: Env,
    settings: Settings,
    redis: Session,
    ttl_ms: String,
}

impl Lock for SingleNode {
    fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition> {
        let SingleNode { env, settings, redis, ttl_ms } = self;
        Box::pin(
            Retry::start(env, settings)
                .until_granted(async || take(env, settings, redis, resource, ttl_ms).await),
        )
    }

    fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release> {
        Box::pin(async move { release(&self.env, &self.settings, &mut self.redis, &lease).await })
    }
}

#[cfg(test)]
mod tests;
