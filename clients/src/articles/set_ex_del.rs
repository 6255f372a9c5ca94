//! `set-ex-del`: SET with NX and EX in one command, released by DEL. Source: article 001,
//! "Problems", 1: `set(lock_sale_ID, 1, 30, NX)` replaces setnx. One mistake remains: **all
//! processes write the same value**. `single-node` fixes this.

use super::{AttemptFailure, Base, Steps, entry, stepwise};
use crate::commands::set_nx_ex;
use crate::lock::Definition;
use bytes::Bytes;

pub const DEFINITION: Definition = entry(
    "set-ex-del",
    "SET key 1 NX EX ttl; released by DEL without checking the owner",
    |env, servers, settings| stepwise(env, servers, settings, SetExDel),
);

struct SetExDel;

impl Steps for SetExDel {
    async fn attempt(&self, base: &mut Base, resource: &str) -> Result<Bytes, AttemptFailure> {
        match set_nx_ex(&mut base.redis, resource, b"1", base.settings.ttl).await? {
            true => Ok(Bytes::from_static(b"1")),
            false => Err(AttemptFailure::Held),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lock::Release;
    use crate::testing::{Answer, granted, normal, once, one, one_redis, settings};

    #[test]
    fn takes_by_one_command_and_releases_by_del() {
        let (world, mut lock) = one_redis("set-ex-del", normal);
        let lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(world.run(lock.release(lease)), Release::Released);
        insta::assert_snapshot!(world.trace(), @r"
        0.000 redis #1 connect
        1.000 redis #1 < SET lock 1 NX EX 10 > +OK
        2.000 redis #1 < DEL lock > :1
        ");
    }

    #[test]
    fn a_lost_reply_locks_for_the_ttl_and_no_longer() {
        let (world, mut lock) = one_redis("set-ex-del", once("SET", Answer::ResetAfter));
        world.run(lock.acquire("lock"));
        world.pass(9_500);
        granted(world.run(lock.acquire("lock")));
    }

    #[test]
    fn an_overrun_removes_the_lock_of_the_next_holder_and_a_third_gets_in() {
        let (world, mut first) = one_redis("set-ex-del", normal);
        let mut second = world.lock("set-ex-del", &one(), &settings());
        let mut third = world.lock("set-ex-del", &one(), &settings());
        let overrun = granted(world.run(first.acquire("lock")));
        world.pass(10_500);
        granted(world.run(second.acquire("lock")));
        assert_eq!(world.run(first.release(overrun)), Release::Released);
        granted(world.run(third.acquire("lock")));
        insta::assert_snapshot!(world.trace(), @r"
            0.000 redis #1 connect
            1.000 redis #1 < SET lock 1 NX EX 10 > +OK
        10502.000 redis #2 connect
        10503.000 redis #2 < SET lock 1 NX EX 10 > +OK
        10504.000 redis #1 < DEL lock > :1
        10505.000 redis #3 connect
        10506.000 redis #3 < SET lock 1 NX EX 10 > +OK
        ");
    }
}
