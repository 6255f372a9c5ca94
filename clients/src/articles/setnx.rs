//! `setnx`: SETNX without an expiry. Source: article 000, "Locking": `SETNX foo.lock <current unix
//! time>`, `DEL foo.lock`. Mistake: **the key never expires**, so it stays after the holder has
//! died or a DEL was lost. `set-ex-del` fixes this.

use super::{AttemptFailure, Base, Steps, entry, stepwise};
use crate::commands::set_nx;
use crate::lock::Definition;
use bytes::Bytes;

pub const DEFINITION: Definition = entry(
    "setnx",
    "SETNX key time without any expiry; released by DEL",
    |env, servers, settings| stepwise(env, servers, settings, Setnx),
);

struct Setnx;

impl Steps for Setnx {
    async fn attempt(&self, base: &mut Base, resource: &str) -> Result<Bytes, AttemptFailure> {
        let unix_time = Bytes::from((base.env.wall_clock().as_millis() / 1_000).to_string());
        match set_nx(&mut base.redis, resource, &unix_time).await? {
            true => Ok(unix_time),
            false => Err(AttemptFailure::Held),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lock::{Acquisition, Release};
    use crate::testing::{Answer, granted, normal, once, one_redis};

    #[test]
    fn takes_by_setnx_and_releases_by_del() {
        let (world, mut lock) = one_redis("setnx", normal);
        let lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(world.run(lock.release(lease)), Release::Released);
        insta::assert_snapshot!(world.trace(), @r"
        0.000 redis #1 connect
        1.000 redis #1 < SETNX lock 1700000000 > :1
        2.000 redis #1 < DEL lock > :1
        ");
    }

    #[test]
    fn waits_for_another_holder_until_the_timeout() {
        let (world, mut lock) = one_redis("setnx", normal);
        world.store("redis", |store| store.set("lock", "1699999999", None));
        assert_eq!(world.run(lock.acquire("lock")), Acquisition::Refused("held by another".into()));
        insta::assert_snapshot!(world.trace(), @r"
          0.000 redis #1 connect
          1.000 redis #1 < SETNX lock 1700000000 > :0
        158.656 redis #1 < SETNX lock 1700000000 > :0
        334.234 redis #1 < SETNX lock 1700000000 > :0
        532.335 redis #1 < SETNX lock 1700000000 > :0
        677.771 redis #1 < SETNX lock 1700000000 > :0
        823.197 redis #1 < SETNX lock 1700000000 > :0
        ");
    }

    #[test]
    fn the_lock_of_a_holder_that_died_is_never_free_again() {
        let (world, mut lock) = one_redis("setnx", normal);
        granted(world.run(lock.acquire("lock")));
        world.pass(365 * 24 * 3_600_000);
        assert_eq!(world.run(lock.acquire("lock")), Acquisition::Refused("held by another".into()));
    }

    #[test]
    fn a_lost_reply_leaves_a_lock_that_nobody_holds() {
        let (world, mut lock) = one_redis("setnx", once("SETNX", Answer::Lost));
        assert_eq!(
            world.run(lock.acquire("lock")),
            Acquisition::Unknown("no reply within 500 ms".to_owned())
        );
        assert!(world.value("redis", "lock").is_some());
    }

    #[test]
    fn a_lost_release_leaves_a_lock_that_nobody_holds() {
        let (world, mut lock) = one_redis("setnx", once("DEL", Answer::ResetBefore));
        let lease = granted(world.run(lock.acquire("lock")));
        assert!(matches!(world.run(lock.release(lease)), Release::Unknown(_)));
        assert!(world.value("redis", "lock").is_some());
    }
}
