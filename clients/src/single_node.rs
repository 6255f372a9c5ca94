//! `single-node`: the lock on one Redis (Redis documentation, "Distributed Locks with Redis",
//! "Correct Implementation with a Single Instance"). The source defines no validity time for a
//! single instance, so the lease has none.

use crate::attempt::take;
use crate::env::Env;
use crate::lock::{Acquisition, Algorithm, Definition, Deployment, Lease, Release, Settings};
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

impl Algorithm for SingleNode {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let SingleNode { env, settings, redis, ttl_ms } = self;
        Retry::start(env, settings)
            .until_granted(async || take(env, settings, redis, resource, ttl_ms).await)
            .await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        release(&self.env, &self.settings, &mut self.redis, &lease).await
    }
}

#[cfg(test)]
mod tests;
