//! `set-px-get-del` and `thread-id-get-del`: the client compares owners before it sends DEL.
//! Source: article 001, "Problems", 2. **GET and DEL are two commands**, so DEL may remove the
//! lock of another process. `single-node` fixes this. `thread-id-get-del` stores the article's
//! `Thread.currentThread().getId()`, which is **unique only within its process**; `set-px-get-del`
//! stores a random value per attempt instead.

use super::{AttemptFailure, Base, Steps, entry, stepwise};
use crate::call_error::CallError;
use crate::commands::{delete, get};
use crate::env::Env;
use crate::lock::{Definition, Lease};
use crate::owned_key::{fresh_owner, set_if_absent};
use bytes::Bytes;

pub const DEFINITION: Definition = entry(
    "set-px-get-del",
    "SET key owner NX PX ttl; released by GET, a comparison in the client, and DEL",
    |env, servers, settings| stepwise(env, servers, settings, Owner::Random),
);

pub const THREAD_ID: Definition = Definition {
    name: "thread-id-get-del",
    about: "set-px-get-del with the thread number as owner, which is the same in every process",
    build: |env, servers, settings| stepwise(env, servers, settings, Owner::ThreadId),
    ..DEFINITION
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    Random,
    ThreadId,
}

impl Owner {
    fn value(self, env: &Env) -> Bytes {
        match self {
            Owner::Random => fresh_owner(env),
            // `Thread.currentThread().getId()` returns 1 in the main thread of a Java process.
            Owner::ThreadId => Bytes::from_static(b"1"),
        }
    }
}

impl Steps for Owner {
    async fn attempt(&self, base: &mut Base, resource: &str) -> Result<Bytes, AttemptFailure> {
        let value = self.value(&base.env);
        let ttl_ms = base.settings.ttl.as_millis().to_string();
        match set_if_absent(&mut base.redis, resource, &value, &ttl_ms).await? {
            true => Ok(value),
            false => Err(AttemptFailure::Held),
        }
    }

    async fn remove(&self, base: &mut Base, lease: &Lease) -> Result<bool, CallError> {
        if get(&mut base.redis, &lease.resource).await?.as_ref() != Some(&lease.owner) {
            return Ok(false);
        }
        delete(&mut base.redis, &lease.resource).await
    }
}

#[cfg(test)]
mod tests {
    use crate::lock::Release;
    use crate::testing::{Answer, Call, granted, normal, one, one_redis, settings};

    #[test]
    fn compares_in_the_client_before_it_deletes() {
        let (world, mut lock) = one_redis("set-px-get-del", normal);
        let lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(world.run(lock.release(lease)), Release::Released);
        insta::assert_snapshot!(world.trace(), @r"
        0.000 redis #1 connect
        1.000 redis #1 < SET lock owner-1 NX PX 10000 > +OK
        2.000 redis #1 < GET lock > $40 owner-1
        3.000 redis #1 < DEL lock > :1
        ");
    }

    #[test]
    fn an_overrun_leaves_the_lock_of_the_next_holder_alone() {
        let (world, mut first) = one_redis("set-px-get-del", normal);
        let mut second = world.lock("set-px-get-del", &one(), &settings());
        let overrun = granted(world.run(first.acquire("lock")));
        world.pass(10_500);
        let next = granted(world.run(second.acquire("lock")));
        assert_eq!(world.run(first.release(overrun)), Release::NotHeld);
        assert_eq!(world.value("redis", "lock").unwrap().as_bytes(), next.owner);
    }

    #[test]
    fn a_delay_between_get_and_del_removes_the_lock_of_the_next_holder() {
        let late_reply_to_get = |call: &Call<'_>| match call.name() {
            "GET" => Answer::Late(400),
            _ => Answer::Normal,
        };
        let (world, mut first) = one_redis("set-px-get-del", late_reply_to_get);
        let mut second = world.lock("set-px-get-del", &one(), &settings());
        let lease = granted(world.run(first.acquire("lock")));
        world.pass(9_800);
        let (released, next) =
            world.run(crate::testing::both(first.release(lease), second.acquire("lock")));
        assert_eq!(released, Release::Released);
        granted(next);
        assert_eq!(world.value("redis", "lock"), None, "the next holder's lock is gone");
        insta::assert_snapshot!(world.trace(), @r"
            0.000 redis #1 connect
            1.000 redis #1 < SET lock owner-1 NX PX 10000 > +OK
         9802.000 redis #1 < GET lock
         9802.000 redis #2 connect
         9803.000 redis #2 < SET lock owner-2 NX PX 10000 > $-1
         9960.656 redis #2 < SET lock owner-3 NX PX 10000 > $-1
        10136.234 redis #2 < SET lock owner-4 NX PX 10000 > +OK
        10203.000 redis #1 > $40 owner-1
        10203.000 redis #1 < DEL lock > :1
        ");
    }

    #[test]
    fn the_number_of_a_thread_makes_every_lock_look_like_ones_own() {
        let (world, mut first) = one_redis("thread-id-get-del", normal);
        let mut second = world.lock("thread-id-get-del", &one(), &settings());
        let overrun = granted(world.run(first.acquire("lock")));
        world.pass(10_500);
        granted(world.run(second.acquire("lock")));
        assert_eq!(world.run(first.release(overrun)), Release::Released);
        assert_eq!(world.value("redis", "lock"), None, "the next holder's lock is gone");
    }
}
