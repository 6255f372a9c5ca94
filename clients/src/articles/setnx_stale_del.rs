//! `setnx-stale-del`, `setnx-stale-compare`: waiters remove a lock whose stored time is too old.
//! Source: article 000, "Handling deadlocks", first version. **DEL does not check the value
//! again**: C2 and C3 both find C1's lock stale; C2 deletes it and takes the lock; then C3 deletes
//! C2's lock and takes the lock too. `setnx-stale-compare` fixes this. **Clients compare their own
//! clocks with the holder's**, and **DEL ignores the owner**, as in `setnx-getset`.

use super::stamp::{bare, now_ms, time_in};
use super::{AttemptFailure, Base, Steps, entry, stepwise};
use crate::commands::{delete, get, set_nx};
use crate::lock::Definition;
use crate::owned_key::delete_if_owned;
use bytes::Bytes;

pub const DEFINITION: Definition = entry(
    "setnx-stale-del",
    "SETNX key time; a waiter that finds a stale lock sends DEL, then SETNX",
    |env, servers, settings| stepwise(env, servers, settings, Removal::Blind),
);

pub const COMPARING: Definition = Definition {
    name: "setnx-stale-compare",
    about: "setnx-stale-del that deletes a stale lock only if its value has not changed",
    build: |env, servers, settings| stepwise(env, servers, settings, Removal::IfUnchanged),
    ..DEFINITION
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Removal {
    Blind,
    IfUnchanged,
}

impl Steps for Removal {
    async fn attempt(&self, base: &mut Base, resource: &str) -> Result<Bytes, AttemptFailure> {
        if let Some(value) = set_now(base, resource).await? {
            return Ok(value);
        }
        let Some(seen) =
            get(&mut base.redis, resource).await.map_err(AttemptFailure::before_any_effect)?
        else {
            return Err(AttemptFailure::Held);
        };
        if !is_stale(base, &seen)? {
            return Err(AttemptFailure::Held);
        }
        match self {
            Removal::Blind => delete(&mut base.redis, resource).await,
            Removal::IfUnchanged => delete_if_owned(&mut base.redis, resource, &seen).await,
        }
        .map_err(AttemptFailure::before_any_effect)?;
        set_now(base, resource).await?.ok_or(AttemptFailure::Held)
    }
}

async fn set_now(base: &mut Base, resource: &str) -> Result<Option<Bytes>, AttemptFailure> {
    let value = bare(now_ms(&base.env));
    Ok(set_nx(&mut base.redis, resource, &value).await?.then_some(value))
}

fn is_stale(base: &Base, seen: &[u8]) -> Result<bool, AttemptFailure> {
    Ok(now_ms(&base.env).saturating_sub(time_in(seen)?) > base.expire_ms())
}

#[cfg(test)]
mod tests {
    use crate::lock::{Acquisition, Release};
    use crate::testing::{
        Answer, Call, TestWorld, both, granted, normal, one, one_redis, settings,
    };

    const LONG_AGO: &str = "1699999980000";

    #[test]
    fn takes_by_setnx_and_releases_by_del() {
        let (world, mut lock) = one_redis("setnx-stale-del", normal);
        let lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(world.run(lock.release(lease)), Release::Released);
        insta::assert_snapshot!(world.trace(), @r"
        0.000 redis #1 connect
        1.000 redis #1 < SETNX lock 1700000000000 > :1
        2.000 redis #1 < DEL lock > :1
        ");
    }

    #[test]
    fn waits_while_the_lock_is_not_too_old() {
        let (world, mut lock) = one_redis("setnx-stale-del", normal);
        world.store("redis", |store| store.set("lock", "1699999992000", None));
        assert_eq!(world.run(lock.acquire("lock")), Acquisition::Refused("held by another".into()));
        assert_eq!(world.value("redis", "lock").as_deref(), Some("1699999992000"));
    }

    #[test]
    fn the_lock_of_a_holder_that_died_is_taken_over() {
        for name in ["setnx-stale-del", "setnx-stale-compare"] {
            let (world, mut lock) = one_redis(name, normal);
            world.store("redis", |store| store.set("lock", LONG_AGO, None));
            granted(world.run(lock.acquire("lock")));
        }
    }

    fn two_waiters(name: &str) -> (Acquisition, Acquisition, String) {
        let mut gets = 0;
        let world = TestWorld::new();
        world.serve("redis", move |call: &Call<'_>| {
            gets += usize::from(call.name() == "GET");
            if call.name() == "GET" && gets == 2 { Answer::Late(2) } else { Answer::Normal }
        });
        world.store("redis", |store| store.set("lock", LONG_AGO, None));
        let mut second = world.lock(name, &one(), &settings());
        let mut third = world.lock(name, &one(), &settings());
        let (second, third) = world.run(both(second.acquire("lock"), third.acquire("lock")));
        (second, third, world.trace())
    }

    #[test]
    fn two_waiters_both_take_over_because_del_does_not_look_again() {
        let (second, third, trace) = two_waiters("setnx-stale-del");
        granted(second);
        granted(third);
        insta::assert_snapshot!(trace, @r"
        0.000 redis #1 connect
        0.000 redis #2 connect
        1.000 redis #1 < SETNX lock 1700000000000
        1.000 redis #2 < SETNX lock 1700000000000
        2.000 redis #1 > :0
        2.000 redis #1 < GET lock
        2.000 redis #2 > :0
        2.000 redis #2 < GET lock
        3.000 redis #1 > $13 1699999980000
        3.000 redis #1 < DEL lock > :1
        4.000 redis #1 < SETNX lock 1700000000004
        5.000 redis #2 > $13 1699999980000
        5.000 redis #2 < DEL lock
        5.000 redis #1 > :1
        6.000 redis #2 > :1
        6.000 redis #2 < SETNX lock 1700000000006 > :1
        ");
    }

    #[test]
    fn one_waiter_takes_over_if_the_stale_time_is_compared() {
        let (second, third, _) = two_waiters("setnx-stale-compare");
        granted(second);
        assert_eq!(third, Acquisition::Refused("held by another".into()));
    }
}
