//! `setnx-getset` and its variants: the key stores a time, and waiters take over an old lock.
//!
//! Source: article 000, "Handling deadlocks" and the text after it:
//!
//! ```text
//! SETNX foo.lock T0         1: acquired                          T0 = <current unix time>
//! T1 = GET foo.lock         T0 > T1 + expire: too old            nil: see below
//! T2 = GETSET foo.lock T0   T1 = T2: acquired                    else: sleep, try again
//! GET foo.lock              before the write: T0 means held
//! DEL foo.lock
//! ```
//!
//! `setnx-getset` stores milliseconds, as the article recommends. It keeps these mistakes:
//!
//! - **Clients compare their own clocks with the holder's.** `setnx-getset-server-time` uses TIME.
//! - **GET nil counts as an old lock, and GETSET nil after an old time counts as a loss.** If the
//!   holder releases between GET and GETSET, the waiter's GETSET takes the lock, but the waiter
//!   does not notice. `setnx-getset-nil` takes over after GETSET nil, but not after GET nil.
//! - **The loser's GETSET overwrites the winner's time.** A loser that was paused after reading its
//!   clock sets the time *back*, so a third process may take over too early. `setnx-getset-owner`
//!   takes over by compare-and-set; in `setnx-getset-checked` the holder's own check then fails.
//! - **DEL ignores the owner.** `setnx-getset-owner` releases by compare-and-delete.
//!
//! `setnx-getset-seconds` stores whole seconds, so two acquisitions can store the same value.

use super::stamp::{Value, now_ms, now_seconds, set_if_unchanged, time_in};
use super::{AttemptFailure, Base, Steps, entry, stepwise};
use crate::call_error::CallError;
use crate::commands::{delete, get, get_set, server_time_ms, set_nx, whole_seconds};
use crate::lock::{Definition, Lease, Usage};
use crate::owned_key::delete_if_owned;
use bytes::Bytes;

pub const DEFINITION: Definition = entry(
    "setnx-getset",
    "SETNX key time; a waiter takes over a stale lock by GETSET and a comparison; released by DEL",
    |env, servers, settings| stepwise(env, servers, settings, PUBLISHED),
);

pub const SECONDS: Definition = Definition {
    name: "setnx-getset-seconds",
    about: "setnx-getset with times in whole seconds",
    build: |env, servers, settings| {
        let steps = Variation { clock: Clock::ClientSeconds, ..PUBLISHED };
        stepwise(env, servers, settings, steps)
    },
    ..DEFINITION
};

pub const CHECKED: Definition = Definition {
    name: "setnx-getset-checked",
    about: "setnx-getset with a check before the guarded write that the key still has the \
            holder's time",
    build: |env, servers, settings| {
        let usage = Usage { checks: true, ..Usage::PLAIN };
        stepwise(env, servers, settings, Variation { usage, ..PUBLISHED })
    },
    ..DEFINITION
};

pub const NIL_HANDLED: Definition = Definition {
    name: "setnx-getset-nil",
    about: "setnx-getset that reads nil replies correctly, as a free lock",
    build: |env, servers, settings| {
        stepwise(env, servers, settings, Variation { nil: Nil::IsFree, ..PUBLISHED })
    },
    ..DEFINITION
};

pub const SERVER_TIME: Definition = Definition {
    name: "setnx-getset-server-time",
    about: "setnx-getset with the server's clock instead of the clients'",
    build: |env, servers, settings| {
        stepwise(env, servers, settings, Variation { clock: Clock::Server, ..PUBLISHED })
    },
    ..DEFINITION
};

pub const OWNER: Definition = Definition {
    name: "setnx-getset-owner",
    about: "setnx-getset with an owner next to the time: takes over by compare-and-set, releases \
            by compare-and-delete",
    build: |env, servers, settings| {
        let steps = Variation { nil: Nil::IsFree, value: Value::Owned, ..PUBLISHED };
        stepwise(env, servers, settings, steps)
    },
    ..DEFINITION
};

const PUBLISHED: Variation = Variation {
    clock: Clock::ClientMillis,
    nil: Nil::IsTimeout,
    value: Value::Bare,
    usage: Usage::PLAIN,
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Variation {
    clock: Clock,
    nil: Nil,
    value: Value,
    usage: Usage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Clock {
    ClientMillis,
    ClientSeconds,
    Server,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Nil {
    IsTimeout,
    IsFree,
}

impl Steps for Variation {
    async fn attempt(&self, base: &mut Base, resource: &str) -> Result<Bytes, AttemptFailure> {
        let t0 = self.clock.now(base).await.map_err(AttemptFailure::before_any_effect)?;
        let value = self.value.of(t0, &base.env);
        if set_nx(&mut base.redis, resource, &value).await? {
            return Ok(value);
        }
        let t1 = get(&mut base.redis, resource).await.map_err(AttemptFailure::before_any_effect)?;
        if !is_too_old(t1.as_deref(), t0, *self, base)? {
            return Err(AttemptFailure::Held);
        }
        match (take_over(base, resource, t1, &value, *self).await?, self.nil) {
            (Takeover::OfStaleLock, _) | (Takeover::OfFreeLock, Nil::IsFree) => Ok(value),
            (Takeover::OfFreeLock, Nil::IsTimeout) | (Takeover::LostRace, _) => {
                Err(AttemptFailure::Held)
            }
        }
    }

    async fn remove(&self, base: &mut Base, lease: &Lease) -> Result<bool, CallError> {
        match self.value {
            Value::Bare => delete(&mut base.redis, &lease.resource).await,
            Value::Owned => delete_if_owned(&mut base.redis, &lease.resource, &lease.owner).await,
        }
    }

    fn usage(&self) -> Usage {
        self.usage
    }
}

impl Clock {
    async fn now(self, base: &mut Base) -> Result<i64, CallError> {
        match self {
            Clock::ClientMillis => Ok(now_ms(&base.env)),
            Clock::ClientSeconds => Ok(now_seconds(&base.env)),
            Clock::Server => server_time_ms(&mut base.redis).await,
        }
    }

    fn expire(self, base: &Base) -> i64 {
        match self {
            Clock::ClientMillis | Clock::Server => base.expire_ms(),
            Clock::ClientSeconds => {
                i64::try_from(whole_seconds(base.settings.ttl)).unwrap_or(i64::MAX)
            }
        }
    }
}

fn is_too_old(
    t1: Option<&[u8]>,
    t0: i64,
    variation: Variation,
    base: &Base,
) -> Result<bool, AttemptFailure> {
    let t1 = match (t1, variation.nil) {
        (None, Nil::IsFree) => return Ok(false),
        (None, Nil::IsTimeout) => 0,
        (Some(t1), _) => time_in(t1)?,
    };
    Ok(t0 > t1.saturating_add(variation.clock.expire(base)))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Takeover {
    OfStaleLock,
    OfFreeLock,
    LostRace,
}

async fn take_over(
    base: &mut Base,
    resource: &str,
    t1: Option<Bytes>,
    value: &Bytes,
    variation: Variation,
) -> Result<Takeover, CallError> {
    let stale = match (variation.value, &t1) {
        (Value::Owned, Some(t1)) => set_if_unchanged(&mut base.redis, resource, t1, value).await?,
        _ => {
            let t2 = get_set(&mut base.redis, resource, value).await?;
            if t2.is_none() && t1.is_some() {
                return Ok(Takeover::OfFreeLock);
            }
            t2 == t1
        }
    };
    Ok(if stale { Takeover::OfStaleLock } else { Takeover::LostRace })
}

#[cfg(test)]
mod tests;
