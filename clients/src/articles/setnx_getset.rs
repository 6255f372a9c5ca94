//! `setnx-getset` and its variations: the value is the time of the acquire; a lock that is too old
//! is taken over by GETSET.
//!
//! Source: article 000, "Handling deadlocks" and what follows it:
//!
//! ```text
//! SETNX foo.lock T0         1: acquired                          T0 = <current unix time>
//! T1 = GET foo.lock         T0 > T1 + expire: it is too old      nil: see below
//! T2 = GETSET foo.lock T0   T1 = T2: acquired; otherwise another was faster: sleep, try again
//! ... before the key step, check: GET foo.lock = T0
//! DEL foo.lock
//! ```
//!
//! Mistakes, kept in `setnx-getset`, which has the milliseconds that the article recommends:
//!
//! - **Clients compare their own clocks with the holder's** (the article says so). Fixed in
//!   `setnx-getset-server-time`: TIME.
//! - **GET nil is taken for a time long past, and GETSET nil for "another was faster"** (the
//!   article says so): the holder releases between a waiter's GET of a stale time and its GETSET;
//!   the waiter has taken the lock, does not know it, and all wait until it is too old. Fixed in
//!   `setnx-getset-nil`: after GET nil it tries SETNX again, and GETSET nil is a success.
//! - **The loser's GETSET overwrites the winner's time.** The article calls that negligible. It is
//!   not if the loser was paused after it read the clock: it sets the time *back*, and a third
//!   takes the lock over early. And the holder's own check then fails: that is
//!   `setnx-getset-checked`. Fixed in `setnx-getset-owner`, which takes over by compare-and-set,
//!   so that losers write nothing.
//! - **The release is a DEL that ignores the owner.** Fixed in `setnx-getset-owner`: time and
//!   random owner, compare-and-delete.
//!
//! `setnx-getset-seconds` has stamps in whole seconds, of which the article warns. They do not let
//! two takers in: a taker writes a time more than `expire` after the stale one, so the second
//! taker's T2 differs from T1. They break the check: two acquisitions within one second
//! look the same.

use super::stamp::{Value, now_ms, now_seconds, set_if_unchanged, time_in};
use super::{Base, NotTaken, Steps, entry, stepwise};
use crate::call_error::CallError;
use crate::commands::{delete, get, get_set, server_time_ms, set_nx, whole_seconds};
use crate::lock::{Definition, Lease, Usage};
use crate::owned_key::delete_if_owned;
use bytes::Bytes;

/// The entry in the table of locks.
pub const DEFINITION: Definition = entry(
    "setnx-getset",
    "SETNX key time; a waiter takes over an old time by GETSET and a comparison; released by DEL",
    |env, servers, settings| stepwise(env, servers, settings, AS_WRITTEN),
);

/// The variation with times in whole seconds.
pub const SECONDS: Definition = Definition {
    name: "setnx-getset-seconds",
    about: "setnx-getset with times in whole seconds",
    build: |env, servers, settings| {
        let steps = Variation { clock: Clock::ClientSeconds, ..AS_WRITTEN };
        stepwise(env, servers, settings, steps)
    },
    ..DEFINITION
};

/// The variation with the holder's check at the key step.
pub const CHECKED: Definition = Definition {
    name: "setnx-getset-checked",
    about: "setnx-getset whose holder checks before the key step that the key still holds its time",
    build: |env, servers, settings| {
        let usage = Usage { checks: true, ..Usage::PLAIN };
        stepwise(env, servers, settings, Variation { usage, ..AS_WRITTEN })
    },
    ..DEFINITION
};

/// The variation that interprets nil replies correctly.
pub const NIL_HANDLED: Definition = Definition {
    name: "setnx-getset-nil",
    about: "setnx-getset that reads nil replies correctly, as a free lock",
    build: |env, servers, settings| {
        stepwise(env, servers, settings, Variation { nil: Nil::IsFree, ..AS_WRITTEN })
    },
    ..DEFINITION
};

/// The variation that uses the server's clock.
pub const SERVER_TIME: Definition = Definition {
    name: "setnx-getset-server-time",
    about: "setnx-getset with the server's clock instead of the clients'",
    build: |env, servers, settings| {
        stepwise(env, servers, settings, Variation { clock: Clock::Server, ..AS_WRITTEN })
    },
    ..DEFINITION
};

/// The variation with an owner in the value, and comparisons at the server.
pub const OWNER: Definition = Definition {
    name: "setnx-getset-owner",
    about: "setnx-getset with an owner next to the time: takes over by compare-and-set, releases \
            by compare-and-delete",
    build: |env, servers, settings| {
        let steps = Variation { nil: Nil::IsFree, value: Value::Owned, ..AS_WRITTEN };
        stepwise(env, servers, settings, steps)
    },
    ..DEFINITION
};

const AS_WRITTEN: Variation = Variation {
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
    /// GET: a time long past. GETSET: another process was faster.
    IsTimeout,
    /// GET: SETNX is tried again. GETSET: acquired.
    IsFree,
}

impl Steps for Variation {
    async fn attempt(&self, base: &mut Base, resource: &str) -> Result<Bytes, NotTaken> {
        let t0 = self.clock.now(base).await.map_err(NotTaken::harmless)?;
        let value = self.value.of(t0, &base.env);
        if set_nx(&mut base.redis, resource, &value).await? {
            return Ok(value);
        }
        let t1 = get(&mut base.redis, resource).await.map_err(NotTaken::harmless)?;
        if !is_too_old(t1.as_deref(), t0, *self, base)? {
            return Err(NotTaken::Held);
        }
        match (take_over(base, resource, t1, &value, *self).await?, self.nil) {
            (Takeover::FromTheStaleOne, _) | (Takeover::OfNothing, Nil::IsFree) => Ok(value),
            (Takeover::OfNothing, Nil::IsTimeout) | (Takeover::SomebodyWasFaster, _) => {
                Err(NotTaken::Held)
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
    /// `<current unix time>`.
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

/// Returns whether `T0 > T1 + expire`.
fn is_too_old(
    t1: Option<&[u8]>,
    t0: i64,
    variation: Variation,
    base: &Base,
) -> Result<bool, NotTaken> {
    let t1 = match (t1, variation.nil) {
        (None, Nil::IsFree) => return Ok(false),
        (None, Nil::IsTimeout) => 0,
        (Some(t1), _) => time_in(t1)?,
    };
    Ok(t0 > t1.saturating_add(variation.clock.expire(base)))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Takeover {
    FromTheStaleOne,
    OfNothing,
    SomebodyWasFaster,
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
                return Ok(Takeover::OfNothing);
            }
            t2 == t1
        }
    };
    Ok(if stale { Takeover::FromTheStaleOne } else { Takeover::SomebodyWasFaster })
}

#[cfg(test)]
mod tests;
