//! `redlock`: the lock on N independent masters. Source: Redis documentation, "Distributed Locks
//! with Redis", "The Redlock Algorithm", with the random delay of "Retry on failure" and the drift
//! of "Safety arguments": 1 % of the ttl plus 2 ms, as in redlock-rb. All times are on the
//! monotonic clock (Sanfilippo, "Is Redlock safe?", 2016). [`libraries`] models how Redlock
//! libraries deviate.

mod masters;

pub mod libraries;
pub mod variants;

use crate::env::Env;
use crate::lock::{
    Acquisition, Algorithm, Definition, Deployment, Lease, Release, Servers, Settings,
};
use crate::owned_key::fresh_owner;
use crate::retry::Retry;
use masters::{Failure, Masters};
use std::time::Duration;

pub const DEFINITION: Definition = Definition {
    name: "redlock",
    about: "the Redlock algorithm: a majority of independent masters within the validity time",
    deployment: Deployment::Independent,
    has_tokens: false,
    is_fair: false,
    models: None,
    build: |env, servers, settings| Box::new(Redlock::new(env, servers, settings)),
};

struct Redlock {
    env: Env,
    settings: Settings,
    masters: Masters,
}

impl Redlock {
    fn new(env: Env, servers: &Servers, settings: &Settings) -> Redlock {
        let masters = Masters::new(&env, servers, settings);
        Redlock { env, settings: settings.clone(), masters }
    }

    async fn attempt(&mut self, resource: &str) -> Acquisition {
        let owner = fresh_owner(&self.env);

        // Step 1: get the current time, here on the monotonic clock.
        let start = self.env.monotonic_clock();

        // Step 2: ask all instances in turn, with the same key and random value.
        let votes = self.masters.lock_in_turn(resource, &owner).await;

        // Step 3: require a majority within the validity. Step 4: the lease ends with the validity.
        let valid_until = start.plus(min_validity(self.settings.ttl));
        let is_in_time = valid_until > self.env.monotonic_clock();
        if votes.are_majority() && is_in_time {
            return votes.granted(resource, owner, Some(valid_until));
        }

        // Step 5: unlock all instances, because the acquire failed.
        let may_stand = self.masters.unlock_all(resource, &owner, &votes).await;
        votes.failed(Failure { is_in_time, may_stand })
    }
}

fn min_validity(ttl: Duration) -> Duration {
    ttl.saturating_sub(ttl / 100 + Duration::from_millis(2))
}

impl Algorithm for Redlock {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        Retry::start(&self.env, &self.settings)
            .until_granted(async || self.attempt(resource).await)
            .await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        self.masters.release(&lease).await
    }
}

#[cfg(test)]
mod tests;
