//! `setnx-getset-expiry` and `setnx-getset-expiry-owner`: the key stores the lock's expiry time.
//!
//! Source: article 000, second part, "Pseudo-code":
//!
//! ```text
//! lock = 0
//! while lock != 1:
//!     timestamp = current Unix time + lock timeout + 1
//!     lock = SETNX lock.foo timestamp
//!     if lock == 1 or (now() > (GET lock.foo) and now() > (GETSET lock.foo timestamp)): break
//!     else: sleep(10ms)
//! do_job()
//! if now() < GET lock.foo: DEL lock.foo
//! ```
//!
//! Unix time is in whole seconds, and the 1 compensates for the rounding. `setnx-getset-expiry`
//! treats a nil reply as a past time, and keeps these mistakes: **the release checks a time instead
//! of an owner**, and **the loser's GETSET overwrites the winner's time**.
//! `setnx-getset-expiry-owner` fixes both with a stored owner, compare-and-set and
//! compare-and-delete. Both locks **compare the clocks of different clients**.

use super::stamp::{Value, now_seconds, set_if_unchanged, time_in, time_of};
use super::{AttemptFailure, Base, Steps, entry, stepwise};
use crate::call_error::CallError;
use crate::commands::{delete, get, get_set, set_nx, whole_seconds};
use crate::env::Env;
use crate::lock::{Definition, Lease, Lock, Servers, Settings};
use crate::owned_key::delete_if_owned;
use bytes::Bytes;
use std::time::Duration;

const SLEEP: Duration = Duration::from_millis(10);

pub const DEFINITION: Definition = entry(
    "setnx-getset-expiry",
    "SETNX key end-time; a waiter takes over an expired lock by GETSET; DEL only before the end \
     time",
    |env, servers, settings| lock(env, servers, settings, Value::Bare),
);

pub const OWNER: Definition = Definition {
    name: "setnx-getset-expiry-owner",
    about: "setnx-getset-expiry with an owner next to the time: takes over by compare-and-set, \
            releases by compare-and-delete",
    build: |env, servers, settings| lock(env, servers, settings, Value::Owned),
    ..DEFINITION
};

struct SetnxGetsetExpiry(Value);

fn lock(env: Env, servers: &Servers, settings: &Settings, value: Value) -> Box<dyn Lock> {
    let settings = Settings { retry: SLEEP..=SLEEP, ..settings.clone() };
    stepwise(env, servers, &settings, SetnxGetsetExpiry(value))
}

impl Steps for SetnxGetsetExpiry {
    async fn attempt(&self, base: &mut Base, resource: &str) -> Result<Bytes, AttemptFailure> {
        let timeout = i64::try_from(whole_seconds(base.settings.ttl)).unwrap_or(i64::MAX);
        let end = now_seconds(&base.env).saturating_add(timeout).saturating_add(1);
        let timestamp = self.0.of(end, &base.env);
        if set_nx(&mut base.redis, resource, &timestamp).await? {
            return Ok(timestamp);
        }
        let seen =
            get(&mut base.redis, resource).await.map_err(AttemptFailure::before_any_effect)?;
        if !has_passed(seen.as_deref(), &base.env)? {
            return Err(AttemptFailure::Held);
        }
        let taken = match (self.0, &seen) {
            (Value::Bare, _) => {
                let old = get_set(&mut base.redis, resource, &timestamp).await?;
                has_passed(old.as_deref(), &base.env)?
            }
            (Value::Owned, Some(seen)) => {
                set_if_unchanged(&mut base.redis, resource, seen, &timestamp).await?
            }
            (Value::Owned, None) => false,
        };
        if taken { Ok(timestamp) } else { Err(AttemptFailure::Held) }
    }

    async fn remove(&self, base: &mut Base, lease: &Lease) -> Result<bool, CallError> {
        match self.0 {
            Value::Bare => delete_while_ahead(base, &lease.resource).await,
            Value::Owned => delete_if_owned(&mut base.redis, &lease.resource, &lease.owner).await,
        }
    }
}

fn has_passed(value: Option<&[u8]>, env: &Env) -> Result<bool, AttemptFailure> {
    let Some(value) = value else { return Ok(true) };
    let end = time_in(value)?;
    Ok(now_seconds(env) > end)
}

async fn delete_while_ahead(base: &mut Base, resource: &str) -> Result<bool, CallError> {
    let end = get(&mut base.redis, resource).await?.as_deref().and_then(time_of);
    match end.is_some_and(|end| now_seconds(&base.env) < end) {
        true => delete(&mut base.redis, resource).await,
        false => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use crate::lock::{Acquisition, Release, Settings};
    use crate::testing::{Answer, Call, both, granted, normal, one, one_redis, settings};
    use std::time::Duration;

    fn one_attempt() -> Settings {
        Settings { acquire_timeout: Duration::ZERO, ..settings() }
    }

    #[test]
    fn takes_by_setnx_and_releases_while_its_end_lies_ahead() {
        let (world, mut lock) = one_redis("setnx-getset-expiry", normal);
        let lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(world.run(lock.release(lease)), Release::Released);
        insta::assert_snapshot!(world.trace(), @r"
        0.000 redis #1 connect
        1.000 redis #1 < SETNX lock 1700000011 > :1
        2.000 redis #1 < GET lock > $10 1700000011
        3.000 redis #1 < DEL lock > :1
        ");
    }

    #[test]
    fn sleeps_ten_milliseconds_between_two_attempts() {
        let world = crate::testing::TestWorld::new();
        world.serve("redis", normal);
        world.store("redis", |store| store.set("lock", "1700000005", None));
        let patience = Settings { acquire_timeout: Duration::from_millis(30), ..settings() };
        let mut lock = world.lock("setnx-getset-expiry", &one(), &patience);
        assert_eq!(world.run(lock.acquire("lock")), Acquisition::Refused("held by another".into()));
        insta::assert_snapshot!(world.trace(), @r"
         0.000 redis #1 connect
         1.000 redis #1 < SETNX lock 1700000011 > :0
         2.000 redis #1 < GET lock > $10 1700000005
        13.000 redis #1 < SETNX lock 1700000011 > :0
        14.000 redis #1 < GET lock > $10 1700000005
        25.000 redis #1 < SETNX lock 1700000011 > :0
        26.000 redis #1 < GET lock > $10 1700000005
        ");
    }

    #[test]
    fn one_of_two_waiters_takes_over_a_lock_that_has_ended() {
        for name in ["setnx-getset-expiry", "setnx-getset-expiry-owner"] {
            let (world, mut first) = one_redis(name, normal);
            world.store("redis", |store| store.set("lock", "1699999999", None));
            let mut second = world.lock(name, &one(), &settings());
            let (first, second) = world.run(both(first.acquire("lock"), second.acquire("lock")));
            granted(first);
            assert_eq!(second, Acquisition::Refused("held by another".into()), "{name}");
        }
    }

    fn third_gets_in(name: &str) -> (bool, String) {
        let (world, mut first) = one_redis(name, normal);
        let mut others = [0, 1].map(|_| world.lock(name, &one(), &one_attempt()));
        let [second, third] = &mut others;
        let overrun = granted(world.run(first.acquire("lock")));
        world.pass(12_000);
        granted(world.run(second.acquire("lock")));
        world.run(first.release(overrun));
        let third = world.run(third.acquire("lock"));
        (matches!(third, Acquisition::Granted(_)), world.trace())
    }

    #[test]
    fn the_guard_of_the_release_lets_the_lock_of_another_be_deleted() {
        let (third, trace) = third_gets_in("setnx-getset-expiry");
        assert!(third, "{trace}");
        insta::assert_snapshot!(trace, @r"
            0.000 redis #1 connect
            1.000 redis #1 < SETNX lock 1700000011 > :1
        12002.000 redis #2 connect
        12003.000 redis #2 < SETNX lock 1700000023 > :0
        12004.000 redis #2 < GET lock > $10 1700000011
        12005.000 redis #2 < GETSET lock 1700000023 > $10 1700000011
        12006.000 redis #1 < GET lock > $10 1700000023
        12007.000 redis #1 < DEL lock > :1
        12008.000 redis #3 connect
        12009.000 redis #3 < SETNX lock 1700000023 > :1
        ");
    }

    #[test]
    fn an_owner_in_the_value_keeps_the_third_out() {
        let (third, trace) = third_gets_in("setnx-getset-expiry-owner");
        assert!(!third, "{trace}");
        insta::assert_snapshot!(trace, @r"
            0.000 redis #1 connect
            1.000 redis #1 < SETNX lock 1700000011:owner-1 > :1
        12002.000 redis #2 connect
        12003.000 redis #2 < SETNX lock 1700000023:owner-2 > :0
        12004.000 redis #2 < GET lock > $51 1700000011:owner-1
        12005.000 redis #2 < EVALSHA [sha of compare-and-set] 1 lock 1700000011:owner-1 1700000023:owner-2
        12006.000 redis #2 > -NOSCRIPT No matching script. Please use EVAL.
        12006.000 redis #2 < EVAL [compare-and-set] 1 lock 1700000011:owner-1 1700000023:owner-2
        12007.000 redis #2 > :1
        12007.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock 1700000011:owner-1
        12008.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
        12008.000 redis #1 < EVAL [compare-and-delete] 1 lock 1700000011:owner-1 > :0
        12009.000 redis #3 connect
        12010.000 redis #3 < SETNX lock 1700000023:owner-3 > :0
        12011.000 redis #3 < GET lock > $51 1700000023:owner-2
        ");
    }

    #[test]
    fn the_guard_leaves_ones_own_lock_behind_once_its_end_has_passed() {
        let (world, mut lock) = one_redis("setnx-getset-expiry", normal);
        let lease = granted(world.run(lock.acquire("lock")));
        world.pass(12_000);
        assert_eq!(world.run(lock.release(lease)), Release::NotHeld);
        assert_eq!(world.value("redis", "lock").as_deref(), Some("1700000011"));
    }

    #[test]
    fn a_waiter_whose_clock_is_fast_takes_a_fresh_lock_over() {
        let (world, mut holder) = one_redis("setnx-getset-expiry", normal);
        world.skew(1, 12_000);
        let mut waiter = world.lock_on(1, "setnx-getset-expiry", &one(), &one_attempt());
        granted(world.run(holder.acquire("lock")));
        granted(world.run(waiter.acquire("lock")));
    }

    #[test]
    fn getset_nil_is_a_success() {
        let mut gets = 0;
        let (world, mut holder) = one_redis("setnx-getset-expiry", move |call: &Call<'_>| {
            gets += usize::from(call.name() == "GET");
            if call.name() == "GET" && gets == 1 { Answer::Late(4) } else { Answer::Normal }
        });
        world.store("redis", |store| store.set("lock", "1699999999", None));
        let waiting = world.run(both(holder.acquire("lock"), async {
            world.env().sleep(Duration::from_micros(3_200)).await;
            world.store("redis", |store| store.clear());
        }));
        granted(waiting.0);
    }
}
