//! `checked`: [`single_node`](crate::single_node) with a check just before the guarded write.
//! Source: article 000, "Handling deadlocks" and "Problems", 4. One mistake remains: **the check
//! and the write are two steps**, so the lock may expire between them. `fencing` fixes this.

use super::{Base, entry};
use crate::attempt::take;
use crate::lock::{Acquisition, Algorithm, Check, Definition, Lease, Release, Usage};
use crate::owned_key::release;
use crate::retry::Retry;

pub const DEFINITION: Definition = entry(
    "checked",
    "single-node with a GET and a comparison just before the guarded write",
    |env, servers, settings| {
        let ttl_ms = settings.ttl.as_millis().to_string();
        Box::new(Checked { base: Base::new(env, servers, settings), ttl_ms })
    },
);

struct Checked {
    base: Base,
    ttl_ms: String,
}

impl Algorithm for Checked {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let Base { env, settings, redis } = &mut self.base;
        let ttl_ms = &self.ttl_ms;
        Retry::start(env, settings)
            .until_granted(async || take(env, settings, redis, resource, ttl_ms).await)
            .await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let Base { env, settings, redis } = &mut self.base;
        release(env, settings, redis, &lease).await
    }

    async fn check(&mut self, lease: &Lease) -> Check {
        self.base.check(lease).await
    }

    fn usage(&self) -> Usage {
        Usage { checks: true, ..Usage::PLAIN }
    }
}

#[cfg(test)]
mod tests {
    use crate::lock::{Check, Release};
    use crate::testing::{Answer, granted, normal, once, one_redis};

    #[test]
    fn a_lock_still_held_passes_the_check() {
        let (world, mut lock) = one_redis("checked", normal);
        let lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(world.run(lock.check(&lease)), Check::Ours);
        assert_eq!(world.run(lock.release(lease)), Release::Released);
        insta::assert_snapshot!(world.trace(), @r"
        0.000 redis #1 connect
        1.000 redis #1 < SET lock owner-1 NX PX 10000 > +OK
        2.000 redis #1 < GET lock > $40 owner-1
        3.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
        4.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
        4.000 redis #1 < EVAL [compare-and-delete] 1 lock owner-1 > :1
        ");
    }

    #[test]
    fn a_lock_that_is_gone_or_anothers_fails_the_check_and_is_noted() {
        let (world, mut lock) = one_redis("checked", normal);
        let lease = granted(world.run(lock.acquire("lock")));
        world.pass(11_000);
        world.trace();
        assert_eq!(world.run(lock.check(&lease)), Check::NotHeld);
        world.store("redis", |store| store.set("lock", "another", None));
        assert_eq!(world.run(lock.check(&lease)), Check::NotHeld);
        insta::assert_snapshot!(world.trace(), @r"
        11002.000 redis #1 < GET lock > $-1
        11003.000 note LockLost
        11003.000 redis #1 < GET lock > $7 another
        11004.000 note LockLost
        ");
    }

    #[test]
    fn a_check_without_an_answer_is_unknown() {
        let (world, mut lock) = one_redis("checked", once("GET", Answer::Lost));
        let lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(
            world.run(lock.check(&lease)),
            Check::Unknown("no reply within 500 ms".to_owned())
        );
    }
}
