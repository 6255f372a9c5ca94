//! `jedis-getset` and `jedis-getset-owner`: a Java class for Jedis that stores expiry times.
//!
//! Source: article 000, second part, "Java, with Jedis". The class comes from jedis-lock, which
//! releases with DEL.
//!
//! ```text
//! timeout = timeoutMsecs
//! while (timeout >= 0)
//!     expiresStr = currentTimeMillis() + expireMsecs + 1
//!     if (setnx(lockKey, expiresStr) == 1) return true
//!     currentValueStr = get(lockKey)
//!     if (currentValueStr != null && parseLong(currentValueStr) < currentTimeMillis())
//!         oldValueStr = getSet(lockKey, expiresStr)
//!         if (oldValueStr != null && oldValueStr.equals(currentValueStr)) return true
//!     timeout -= 100
//!     sleep(100)
//! return false
//! ```
//!
//! In both locks, the timeout counts the sleeps but not the calls, and a Jedis exception ends the
//! acquire. `jedis-getset` keeps these mistakes: **DEL ignores the owner**; **GETSET nil counts as
//! a loss**, so the new key blocks all processes until its time has passed; and **the loser's
//! GETSET overwrites the winner's time**. `jedis-getset-owner` fixes all three with a stored owner,
//! compare-and-set and compare-and-delete. Both locks **compare the clocks of different clients**.

use super::stamp::{Value, now_ms, set_if_unchanged, time_in};
use super::{AttemptFailure, Base, acquisition, release_result};
use crate::commands::{delete, get, get_set, set_nx};
use crate::lock::{Acquisition, Algorithm, Definition, Deployment, Lease, Release};
use crate::owned_key::delete_if_owned;
use bytes::Bytes;
use std::time::Duration;

const SLEEP_MS: i64 = 100;

pub const DEFINITION: Definition = Definition {
    name: "jedis-getset",
    about: "the Java class JedisLock: SETNX key end-time, GETSET and a string comparison, 100 ms \
            between attempts, DEL",
    deployment: Deployment::Primary,
    has_tokens: false,
    is_fair: false,
    models: Some("the class JedisLock of article 000"),
    build: |env, servers, settings| {
        Box::new(JedisGetset { base: Base::new(env, servers, settings), value: Value::Bare })
    },
};

pub const OWNER: Definition = Definition {
    name: "jedis-getset-owner",
    about: "jedis-getset with an owner next to the time: takes over by compare-and-set, releases \
            by compare-and-delete",
    models: None,
    build: |env, servers, settings| {
        Box::new(JedisGetset { base: Base::new(env, servers, settings), value: Value::Owned })
    },
    ..DEFINITION
};

struct JedisGetset {
    base: Base,
    value: Value,
}

impl JedisGetset {
    async fn attempt(&mut self, resource: &str) -> Result<Bytes, AttemptFailure> {
        let expire_ms = self.base.expire_ms();
        let Base { env, redis, .. } = &mut self.base;
        let expires = now_ms(env).saturating_add(expire_ms).saturating_add(1);
        let expires = self.value.of(expires, env);
        if set_nx(redis, resource, &expires).await? {
            return Ok(expires);
        }
        let Some(current) =
            get(redis, resource).await.map_err(AttemptFailure::before_any_effect)?
        else {
            return Err(AttemptFailure::Held);
        };
        if time_in(&current)? >= now_ms(env) {
            return Err(AttemptFailure::Held);
        }
        let taken = match self.value {
            Value::Bare => get_set(redis, resource, &expires).await? == Some(current),
            Value::Owned => set_if_unchanged(redis, resource, &current, &expires).await?,
        };
        if taken { Ok(expires) } else { Err(AttemptFailure::Held) }
    }
}

impl Algorithm for JedisGetset {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let mut timeout_ms =
            i64::try_from(self.base.settings.acquire_timeout.as_millis()).unwrap_or(i64::MAX);
        while timeout_ms >= 0 {
            let attempt = self.attempt(resource).await;
            // The class does not catch Jedis exceptions.
            if !matches!(attempt, Err(AttemptFailure::Held)) {
                return acquisition(resource, attempt);
            }
            timeout_ms -= SLEEP_MS;
            self.base.env.sleep(Duration::from_millis(SLEEP_MS.unsigned_abs())).await;
            if self.base.env.is_interrupted() {
                break;
            }
        }
        acquisition(resource, Err(AttemptFailure::Held))
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let redis = &mut self.base.redis;
        release_result(match self.value {
            Value::Bare => delete(redis, &lease.resource).await,
            Value::Owned => delete_if_owned(redis, &lease.resource, &lease.owner).await,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::lock::{Acquisition, Lock, Release, Settings};
    use crate::testing::{
        Answer, Call, TestWorld, both, granted, normal, once, one, one_redis, settings,
    };
    use std::rc::Rc;
    use std::time::Duration;

    const HELD: &str = "held by another";

    #[test]
    fn takes_by_setnx_and_releases_by_del() {
        let (world, mut lock) = one_redis("jedis-getset", normal);
        let lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(world.run(lock.release(lease)), Release::Released);
        insta::assert_snapshot!(world.trace(), @r"
        0.000 redis #1 connect
        1.000 redis #1 < SETNX lock 1700000010001 > :1
        2.000 redis #1 < DEL lock > :1
        ");
    }

    #[test]
    fn an_exhausted_timeout_is_a_refusal_and_changes_nothing() {
        let world = TestWorld::new();
        world.serve("redis", normal);
        world.store("redis", |store| store.set("lock", "1700000009000", None));
        let patience = Settings { acquire_timeout: Duration::from_millis(250), ..settings() };
        let mut lock = world.lock("jedis-getset", &one(), &patience);
        assert_eq!(world.run(lock.acquire("lock")), Acquisition::Refused(HELD.into()));
        assert_eq!(world.value("redis", "lock").as_deref(), Some("1700000009000"));
        insta::assert_snapshot!(world.trace(), @r"
          0.000 redis #1 connect
          1.000 redis #1 < SETNX lock 1700000010001 > :0
          2.000 redis #1 < GET lock > $13 1700000009000
        103.000 redis #1 < SETNX lock 1700000010104 > :0
        104.000 redis #1 < GET lock > $13 1700000009000
        205.000 redis #1 < SETNX lock 1700000010206 > :0
        206.000 redis #1 < GET lock > $13 1700000009000
        ");
    }

    #[test]
    fn an_exception_of_jedis_ends_the_acquire() {
        let (world, mut lock) = one_redis("jedis-getset", once("SETNX", Answer::Lost));
        let outcome = world.run(lock.acquire("lock"));
        assert_eq!(outcome, Acquisition::Unknown("no reply within 500 ms".into()));
        assert_eq!(world.trace().matches("SETNX").count(), 1);
        assert!(world.value("redis", "lock").is_some());
    }

    #[test]
    fn one_of_two_waiters_takes_over_a_lock_that_has_ended() {
        for name in ["jedis-getset", "jedis-getset-owner"] {
            let (world, mut first) = one_redis(name, normal);
            world.store("redis", |store| store.set("lock", "1699999999999", None));
            let mut second = world.lock(name, &one(), &settings());
            let (first, second) = world.run(both(first.acquire("lock"), second.acquire("lock")));
            granted(first);
            assert_eq!(second, Acquisition::Refused(HELD.into()), "{name}");
        }
    }

    fn after_an_overrun(name: &str) -> (Acquisition, Rc<TestWorld>) {
        let (world, mut first) = one_redis(name, normal);
        let mut others = [0, 1].map(|_| world.lock(name, &one(), &settings()));
        let [second, third] = &mut others;
        let overrun = granted(world.run(first.acquire("lock")));
        world.pass(10_500);
        granted(world.run(second.acquire("lock")));
        world.run(first.release(overrun));
        (world.run(third.acquire("lock")), world)
    }

    #[test]
    fn an_overrun_removes_the_lock_of_the_next_holder_and_a_third_gets_in() {
        let (third, world) = after_an_overrun("jedis-getset");
        granted(third);
        insta::assert_snapshot!(world.trace(), @r"
            0.000 redis #1 connect
            1.000 redis #1 < SETNX lock 1700000010001 > :1
        10502.000 redis #2 connect
        10503.000 redis #2 < SETNX lock 1700000020503 > :0
        10504.000 redis #2 < GET lock > $13 1700000010001
        10505.000 redis #2 < GETSET lock 1700000020503 > $13 1700000010001
        10506.000 redis #1 < DEL lock > :1
        10507.000 redis #3 connect
        10508.000 redis #3 < SETNX lock 1700000020508 > :1
        10509.000 redis #2 close
        10509.000 redis #3 close
        10509.000 redis #1 close
        ");
    }

    #[test]
    fn an_owner_in_the_value_keeps_the_third_out() {
        let (third, world) = after_an_overrun("jedis-getset-owner");
        assert_eq!(third, Acquisition::Refused(HELD.into()), "{}", world.trace());
    }

    fn release_before_getset(name: &str) -> (Acquisition, Rc<TestWorld>, Box<dyn Lock>) {
        let mut gets = 0;
        let (world, mut holder) = one_redis(name, move |call: &Call<'_>| {
            gets += usize::from(call.name() == "GET");
            if call.name() == "GET" && gets == 1 { Answer::Late(2) } else { Answer::Normal }
        });
        let mut waiter = world.lock(name, &one(), &settings());
        let lease = granted(world.run(holder.acquire("lock")));
        world.pass(10_100);
        let (waiting, _) = world.run(both(waiter.acquire("lock"), async {
            world.env().sleep(Duration::from_millis(3)).await;
            holder.release(lease).await
        }));
        (waiting, world, waiter)
    }

    #[test]
    fn getset_nil_is_taken_for_a_loss_and_nobody_holds_the_lock_until_its_time_has_passed() {
        let (waiting, world, mut waiter) = release_before_getset("jedis-getset");
        assert_eq!(waiting, Acquisition::Refused(HELD.into()));
        let trace = world.trace();
        let head: Vec<&str> = trace.lines().take(9).collect();
        insta::assert_snapshot!(head.join("\n"), @r"
            0.000 redis #1 connect
            1.000 redis #1 < SETNX lock 1700000010001 > :1
        10102.000 redis #2 connect
        10103.000 redis #2 < SETNX lock 1700000020103 > :0
        10104.000 redis #2 < GET lock
        10105.000 redis #1 < DEL lock > :1
        10107.000 redis #2 > $13 1700000010001
        10107.000 redis #2 < GETSET lock 1700000020103 > $-1
        10208.000 redis #2 < SETNX lock 1700000020209 > :0
        ");
        world.pass(9_000);
        granted(world.run(waiter.acquire("lock")));
    }

    #[test]
    fn a_comparing_takeover_leaves_a_free_lock_free_and_takes_it_at_the_next_attempt() {
        let (waiting, ..) = release_before_getset("jedis-getset-owner");
        granted(waiting);
    }

    #[test]
    fn a_waiter_whose_clock_is_fast_takes_a_fresh_lock_over() {
        let (world, mut holder) = one_redis("jedis-getset", normal);
        world.skew(1, 11_000);
        let mut waiter = world.lock_on(1, "jedis-getset", &one(), &settings());
        granted(world.run(holder.acquire("lock")));
        granted(world.run(waiter.acquire("lock")));
    }
}
