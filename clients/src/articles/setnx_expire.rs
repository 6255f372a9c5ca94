//! `setnx-expire`: SETNX, then EXPIRE as a second command. Source: article 001, "Lock timeout".
//! **SETNX and EXPIRE are not atomic**: after a crash or a lost connection between them, the key
//! never expires. `set-ex-del` fixes this. If EXPIRE fails, the client does not release the lock.
//! DEL ignores the owner.

use super::{AttemptFailure, Base, Steps, entry, stepwise};
use crate::commands::{expire, set_nx};
use crate::lock::Definition;
use bytes::Bytes;

pub const DEFINITION: Definition = entry(
    "setnx-expire",
    "SETNX key 1, then EXPIRE as a second command; released by DEL",
    |env, servers, settings| stepwise(env, servers, settings, SetnxExpire),
);

struct SetnxExpire;

impl Steps for SetnxExpire {
    async fn attempt(&self, base: &mut Base, resource: &str) -> Result<Bytes, AttemptFailure> {
        if !set_nx(&mut base.redis, resource, b"1").await? {
            return Err(AttemptFailure::Held);
        }
        match expire(&mut base.redis, resource, base.settings.ttl).await {
            Ok(_) => Ok(Bytes::from_static(b"1")),
            Err(error) => Err(AttemptFailure::Halfway(format!(
                "the lock was taken, but it may have no expiry: {error}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lock::{Acquisition, Release};
    use crate::testing::{Answer, granted, normal, once, one_redis};

    #[test]
    fn takes_by_two_commands_and_releases_by_del() {
        let (world, mut lock) = one_redis("setnx-expire", normal);
        let lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(world.run(lock.release(lease)), Release::Released);
        insta::assert_snapshot!(world.trace(), @r"
        0.000 redis #1 connect
        1.000 redis #1 < SETNX lock 1 > :1
        2.000 redis #1 < EXPIRE lock 10 > :1
        3.000 redis #1 < DEL lock > :1
        ");
    }

    #[test]
    fn a_holder_that_died_is_waited_for_until_its_lock_expires() {
        let (world, mut lock) = one_redis("setnx-expire", normal);
        granted(world.run(lock.acquire("lock")));
        world.pass(9_500);
        granted(world.run(lock.acquire("lock")));
        assert!(world.now() > 10_000_000);
    }

    #[test]
    fn a_connection_lost_before_the_expire_locks_for_ever() {
        let (world, mut lock) = one_redis("setnx-expire", once("EXPIRE", Answer::ResetBefore));
        let acquisition = world.run(lock.acquire("lock"));
        assert!(matches!(acquisition, Acquisition::Unknown(_)), "{acquisition:?}");
        insta::assert_snapshot!(world.trace(), @r"
          0.000 redis #1 connect
          1.000 redis #1 < SETNX lock 1 > :1
          2.000 redis #1 < EXPIRE lock 10
          3.000 redis #1 close
        159.656 redis #2 connect
        160.656 redis #2 < SETNX lock 1 > :0
        336.234 redis #2 < SETNX lock 1 > :0
        534.335 redis #2 < SETNX lock 1 > :0
        679.771 redis #2 < SETNX lock 1 > :0
        825.197 redis #2 < SETNX lock 1 > :0
        ");
        world.pass(365 * 24 * 3_600_000);
        assert_eq!(world.value("redis", "lock").as_deref(), Some("1"));
    }
}
