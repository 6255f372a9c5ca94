//! `single-node`: the lock on one Redis, as the Redis documentation gives it. Must never know more than one server.
//!
//! Source: Redis documentation, "Distributed Locks with Redis", "Correct Implementation with a Single Instance".
//!
//! ```text
//! acquire: SET resource_name my_random_value NX PX ttl
//! release: if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end
//! ```
//!
//! The document gives a single instance no validity time, so the lease states none.

use crate::env::{BoxFuture, Env};
use crate::lock::{Acquisition, Definition, Deployment, Lease, Lock, Release, Settings};
use crate::owned_key::{fresh_owner, release, set_if_absent, undo};
use crate::retry::Retry;
use crate::session::Session;

/// The entry in the table of locks.
pub const DEFINITION: Definition = Definition {
    name: "single-node",
    about: "SET key owner NX PX ttl on one Redis, released by a Lua compare-and-delete",
    deployment: Deployment::Primary,
    has_tokens: false,
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

impl SingleNode {
    async fn try_until_timeout(&mut self, resource: &str) -> Acquisition {
        let mut retry = Retry::start(&self.env, &self.settings);
        let mut standing = None;
        loop {
            let owner = fresh_owner(&self.env);
            let reason = match set_if_absent(&mut self.redis, resource, &owner, &self.ttl_ms).await {
                Ok(true) => {
                    let resource = resource.to_owned();
                    return Acquisition::Granted(Lease { resource, owner, token: None, valid_until: None });
                }
                Ok(false) => "held by another".to_owned(),
                Err(error) => {
                    if error.may_have_applied() && !undo(&mut self.redis, resource, &owner).await {
                        standing = Some(error.to_string());
                    }
                    error.to_string()
                }
            };
            if !retry.again().await {
                return standing.map_or(Acquisition::Refused(reason), Acquisition::Unknown);
            }
        }
    }
}

impl Lock for SingleNode {
    fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition> {
        Box::pin(self.try_until_timeout(resource))
    }

    fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release> {
        Box::pin(async move { release(&self.env, &self.settings, &mut self.redis, &lease).await })
    }
}

#[cfg(test)]
mod tests;
