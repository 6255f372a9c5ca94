//! Redlock with one step left out or changed. The correct twin is `redlock`, unless stated:
//!
//! - `redlock-no-validity-check` has **step 3 without the time check, and no step 4**: a late
//!   majority is enough, and the lease has no validity.
//! - `redlock-unlock-answered` **sends step 5 and the release only to masters that confirmed the
//!   lock**. A master whose answer was lost may keep the key until it expires.
//! - `redlock-no-random-delay` asks all masters in parallel and has **the same delay for all
//!   processes**, which may split the votes again and again. Its twin is `redlock-parallel`.
//! - `redlock-fencing` uses **the first 52 bits of the random value as a fencing token**. These
//!   tokens do not follow the order of grants. Its twin is `fencing`.

use super::masters::{Failure, Masters, Votes};
use super::{DEFINITION, Redlock, min_validity};
use crate::env::Env;
use crate::lock::{
    Acquisition, Algorithm, Definition, FencingToken, Lease, Release, Servers, Settings,
};
use crate::owned_key::fresh_owner;
use crate::retry::Retry;
use bytes::Bytes;
use std::time::Duration;

pub const NO_VALIDITY_CHECK: Definition = Definition {
    name: "redlock-no-validity-check",
    about: "redlock that accepts a majority even after the validity time",
    build: |env, servers, settings| Box::new(NoValidityCheck(Redlock::new(env, servers, settings))),
    ..DEFINITION
};

pub const UNLOCK_ANSWERED: Definition = Definition {
    name: "redlock-unlock-answered",
    about: "redlock that unlocks only the masters that confirmed the lock",
    build: |env, servers, settings| {
        let redlock = Redlock::new(env, servers, settings);
        Box::new(UnlockAnswered { redlock, votes: None })
    },
    ..DEFINITION
};

pub const PARALLEL: Definition = Definition {
    name: "redlock-parallel",
    about: "redlock that asks all masters in parallel",
    build: |env, servers, settings| parallel(env, servers, settings),
    ..DEFINITION
};

pub const NO_RANDOM_DELAY: Definition = Definition {
    name: "redlock-no-random-delay",
    about: "redlock-parallel with the same delay between all attempts",
    build: |env, servers, settings| {
        let middle = (*settings.retry.start() + *settings.retry.end()) / 2;
        parallel(env, servers, &Settings { retry: middle..=middle, ..settings.clone() })
    },
    ..DEFINITION
};

pub const FENCING: Definition = Definition {
    name: "redlock-fencing",
    about: "redlock whose random value is the fencing token, although random values have no order",
    has_tokens: true,
    build: |env, servers, settings| Box::new(Fencing(Redlock::new(env, servers, settings))),
    ..DEFINITION
};

struct NoValidityCheck(Redlock);

impl NoValidityCheck {
    async fn attempt(&mut self, resource: &str) -> Acquisition {
        let Redlock { env, masters, .. } = &mut self.0;
        let owner = fresh_owner(env);
        let votes = masters.lock_in_turn(resource, &owner).await;
        if votes.are_majority() {
            return votes.granted(resource, owner, None);
        }
        let may_stand = masters.unlock_all(resource, &owner, &votes).await;
        votes.failed(Failure { is_in_time: true, may_stand })
    }
}

impl Algorithm for NoValidityCheck {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        Retry::start(&self.0.env, &self.0.settings)
            .until_granted(async || self.attempt(resource).await)
            .await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        self.0.release(lease).await
    }
}

struct UnlockAnswered {
    redlock: Redlock,
    votes: Option<Votes>,
}

impl UnlockAnswered {
    async fn attempt(&mut self, resource: &str) -> Acquisition {
        let Redlock { env, masters, settings } = &mut self.redlock;
        let owner = fresh_owner(env);
        let start = env.monotonic_clock();
        let votes = masters.lock_in_turn(resource, &owner).await;
        let valid_until = start.plus(min_validity(settings.ttl));
        let is_in_time = valid_until > env.monotonic_clock();
        if votes.are_majority() && is_in_time {
            return self.votes.insert(votes).granted(resource, owner, Some(valid_until));
        }
        let may_stand = masters.unlock_answered(resource, &owner, &votes).await;
        votes.failed(Failure { is_in_time, may_stand })
    }
}

impl Algorithm for UnlockAnswered {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        Retry::start(&self.redlock.env, &self.redlock.settings)
            .until_granted(async || self.attempt(resource).await)
            .await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        match &self.votes {
            Some(votes) => self.redlock.masters.release_answered(&lease, votes).await,
            None => self.redlock.masters.release(&lease).await,
        }
    }
}

struct Parallel(Redlock);

fn parallel(env: Env, servers: &Servers, settings: &Settings) -> Box<dyn crate::lock::Lock> {
    Box::new(Parallel(Redlock::new(env, servers, settings)))
}

pub(super) async fn attempt_together(
    env: &Env,
    masters: &mut Masters,
    resource: &str,
    owner: &Bytes,
    validity: Duration,
) -> Acquisition {
    let start = env.monotonic_clock();
    let votes = masters.lock_together(resource, owner).await;
    let valid_until = start.plus(validity);
    let is_in_time = valid_until > env.monotonic_clock();
    if votes.are_majority() && is_in_time {
        return votes.granted(resource, owner.clone(), Some(valid_until));
    }
    let may_stand = masters.unlock_all(resource, owner, &votes).await;
    votes.failed(Failure { is_in_time, may_stand })
}

impl Algorithm for Parallel {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let Redlock { env, settings, masters } = &mut self.0;
        let validity = min_validity(settings.ttl);
        let retry = Retry::start(env, settings);
        let attempt = async || {
            let owner = fresh_owner(env);
            attempt_together(env, masters, resource, &owner, validity).await
        };
        retry.until_granted(attempt).await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        self.0.release(lease).await
    }
}

struct Fencing(Redlock);

impl Algorithm for Fencing {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        match self.0.acquire(resource).await {
            Acquisition::Granted(lease) => {
                let token = token_of(&lease.owner);
                Acquisition::Granted(Lease { token, ..lease })
            }
            other => other,
        }
    }

    async fn release(&mut self, lease: Lease) -> Release {
        self.0.release(lease).await
    }
}

/// Takes 52 bits, because many JSON parsers read numbers as doubles, which are exact up to 53 bits.
fn token_of(owner: &Bytes) -> Option<FencingToken> {
    let digits = std::str::from_utf8(owner.get(..13)?).ok()?;
    u64::from_str_radix(digits, 16).ok().map(FencingToken)
}
