//! `reentrant-by-value` and `reentrant-counted`: locks that a holder can take again.
//!
//! Source: article 003, 5.2: if the SET of section 1 finds that the key exists, the client sends
//! GET and reenters if the value is `my_random_value`. `reentrant-by-value` keeps two mistakes:
//! **it has no counter**, so an inner release removes the outer lock; **a process never changes its
//! `my_random_value`**, so it may reenter a lock that an earlier attempt left behind.
//! `reentrant-counted` fixes both. Neither lock extends its ttl on reentry.

use super::{AttemptFailure, Base, acquisition, entry};
use crate::attempt::take;
use crate::commands::get;
use crate::env::Note;
use crate::lock::{Acquisition, Algorithm, Definition, Lease, Release, Usage};
use crate::owned_key::{fresh_owner, release, set_if_absent};
use crate::retry::Retry;
use bytes::Bytes;

pub const DEFINITION: Definition = entry(
    "reentrant-by-value",
    "SET key value NX PX ttl; a holder that finds its own value re-enters; releases are not \
     counted",
    |env, servers, settings| {
        let my_random_value = fresh_owner(&env);
        Box::new(ByValue { base: Base::new(env, servers, settings), my_random_value })
    },
);

pub const COUNTED: Definition = Definition {
    name: "reentrant-counted",
    about: "reentrant-by-value with a count: only the outermost release removes the lock",
    build: |env, servers, settings| {
        let ttl_ms = settings.ttl.as_millis().to_string();
        Box::new(Counted { base: Base::new(env, servers, settings), ttl_ms, held: None })
    },
    ..DEFINITION
};

struct ByValue {
    base: Base,
    my_random_value: Bytes,
}

async fn attempt(
    base: &mut Base,
    resource: &str,
    my_random_value: &Bytes,
) -> Result<Bytes, AttemptFailure> {
    let ttl_ms = base.settings.ttl.as_millis().to_string();
    if set_if_absent(&mut base.redis, resource, my_random_value, &ttl_ms).await? {
        return Ok(my_random_value.clone());
    }
    match get(&mut base.redis, resource).await.map_err(AttemptFailure::before_any_effect)? {
        Some(value) if value == my_random_value => Ok(value),
        _ => Err(AttemptFailure::Held),
    }
}

impl Algorithm for ByValue {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let ByValue { base, my_random_value } = self;
        Retry::start(&base.env, &base.settings)
            .until_granted(async || {
                acquisition(resource, attempt(base, resource, my_random_value).await)
            })
            .await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let Base { env, settings, redis } = &mut self.base;
        release(env, settings, redis, &lease).await
    }

    fn usage(&self) -> Usage {
        Usage { nests: true, ..Usage::PLAIN }
    }
}

struct Counted {
    base: Base,
    ttl_ms: String,
    held: Option<HeldLock>,
}

struct HeldLock {
    lease: Lease,
    count: usize,
}

impl Algorithm for Counted {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let Base { env, settings, redis } = &mut self.base;
        if let Some(held) = &mut self.held {
            return match get(redis, resource).await {
                Ok(value) if value.as_ref() == Some(&held.lease.owner) => {
                    held.count += 1;
                    Acquisition::Granted(held.lease.clone())
                }
                Ok(_) => {
                    env.note(Note::LockLost);
                    Acquisition::Refused("the lock was lost under its outer acquisition".into())
                }
                Err(error) => Acquisition::Refused(error.to_string().into()),
            };
        }
        let ttl_ms = &self.ttl_ms;
        let outcome = Retry::start(env, settings)
            .until_granted(async || take(env, settings, redis, resource, ttl_ms).await)
            .await;
        if let Acquisition::Granted(lease) = &outcome {
            self.held = Some(HeldLock { lease: lease.clone(), count: 1 });
        }
        outcome
    }

    async fn release(&mut self, lease: Lease) -> Release {
        if let Some(held) = &mut self.held
            && held.count > 1
        {
            held.count -= 1;
            return Release::Released;
        }
        self.held = None;
        let Base { env, settings, redis } = &mut self.base;
        release(env, settings, redis, &lease).await
    }

    fn usage(&self) -> Usage {
        Usage { nests: true, ..Usage::PLAIN }
    }
}

#[cfg(test)]
mod tests {
    use crate::lock::{Acquisition, Release};
    use crate::testing::{Answer, granted, normal, once, one, one_redis, settings};

    #[test]
    fn the_inner_release_frees_the_lock_under_the_outer_section() {
        let (world, mut lock) = one_redis("reentrant-by-value", normal);
        let mut other = world.lock("reentrant-by-value", &one(), &settings());
        let outer = granted(world.run(lock.acquire("lock")));
        let inner = granted(world.run(lock.acquire("lock")));
        assert_eq!(world.run(lock.release(inner)), Release::Released);
        granted(world.run(other.acquire("lock")));
        assert_eq!(world.run(lock.release(outer)), Release::NotHeld);
        insta::assert_snapshot!(world.trace(), @r"
        0.000 redis #1 connect
        1.000 redis #1 < SET lock owner-1 NX PX 10000 > +OK
        2.000 redis #1 < SET lock owner-1 NX PX 10000 > $-1
        3.000 redis #1 < GET lock > $40 owner-1
        4.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
        5.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
        5.000 redis #1 < EVAL [compare-and-delete] 1 lock owner-1 > :1
        6.000 redis #2 connect
        7.000 redis #2 < SET lock owner-2 NX PX 10000 > +OK
        8.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1 > :0
        ");
    }

    #[test]
    fn only_the_outermost_release_of_a_counted_lock_frees_it() {
        let (world, mut lock) = one_redis("reentrant-counted", normal);
        let mut other = world.lock("reentrant-counted", &one(), &settings());
        let outer = granted(world.run(lock.acquire("lock")));
        let inner = granted(world.run(lock.acquire("lock")));
        assert_eq!(world.run(lock.release(inner)), Release::Released);
        assert!(matches!(world.run(other.acquire("lock")), Acquisition::Refused(_)));
        world.trace();
        assert_eq!(world.run(lock.release(outer)), Release::Released);
        granted(world.run(other.acquire("lock")));
        insta::assert_snapshot!(world.trace(), @r"
        827.197 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
        828.197 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
        828.197 redis #1 < EVAL [compare-and-delete] 1 lock owner-1 > :1
        829.197 redis #2 < SET lock owner-2 NX PX 10000 > +OK
        ");
    }

    #[test]
    fn a_lock_that_was_lost_cannot_be_reentered() {
        let (world, mut lock) = one_redis("reentrant-counted", normal);
        let outer = granted(world.run(lock.acquire("lock")));
        world.pass(11_000);
        world.trace();
        let inner = world.run(lock.acquire("lock"));
        assert_eq!(
            inner,
            Acquisition::Refused("the lock was lost under its outer acquisition".into())
        );
        assert_eq!(world.run(lock.release(outer)), Release::NotHeld);
        insta::assert_snapshot!(world.trace(), @r"
        11002.000 redis #1 < GET lock > $-1
        11003.000 note LockLost
        11003.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
        11004.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
        11004.000 redis #1 < EVAL [compare-and-delete] 1 lock owner-1 > :0
        ");
    }

    #[test]
    fn a_set_whose_reply_was_lost_is_reentered() {
        let (world, mut lock) = one_redis("reentrant-by-value", once("SET", Answer::Lost));
        granted(world.run(lock.acquire("lock")));
        insta::assert_snapshot!(world.trace(), @r"
          0.000 redis #1 connect
          1.000 redis #1 < SET lock owner-1 NX PX 10000
        501.000 redis #1 close
        657.656 redis #2 connect
        658.656 redis #2 < SET lock owner-1 NX PX 10000 > $-1
        659.656 redis #2 < GET lock > $40 owner-1
        ");
    }

    #[test]
    fn another_waits_for_either() {
        for name in ["reentrant-by-value", "reentrant-counted"] {
            let (world, mut lock) = one_redis(name, normal);
            let mut other = world.lock(name, &one(), &settings());
            granted(world.run(lock.acquire("lock")));
            assert!(matches!(world.run(other.acquire("lock")), Acquisition::Refused(_)), "{name}");
        }
    }
}
