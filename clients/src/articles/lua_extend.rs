//! `lua-extend` and two faulty variants: the application extends a lease that is about to end.
//!
//! Source: article 003, 2 ("the client can send a Lua script that lengthens the lock, as long as
//! the key exists and has the client's value"), with this pseudo-code:
//!
//! ```text
//! if redis.call("get",KEYS[1]) == ARGV[1] then redis.call("set",KEYS[1],ex=3000)
//! else getDLock() // acquire the lock again
//! ```
//!
//! `lua-extend` implements the quoted sentence with PEXPIRE. Its lease lasts one ttl from the start
//! of the call that set or extended the key. In `lua-extend-unchecked` **the extension is a SET
//! that ignores the owner**. In `lua-extend-reacquire` **the holder reacquires a lost lock** and
//! continues, although another process may have changed the data.

use super::{Base, entry};
use crate::attempt::take;
use crate::call_error::CallError;
use crate::commands::{set_px, yes_or_no};
use crate::env::Note;
use crate::lock::{Acquisition, Algorithm, Definition, Extension, Lease, Lock, Release, Usage};
use crate::owned_key::{extend_if_owned, release};
use crate::retry::Retry;
use crate::script::Script;

pub const DEFINITION: Definition = entry(
    "lua-extend",
    "single-node with a validity time; the application extends the lease by a Lua \
     compare-and-expire",
    |env, servers, settings| lock(Base::new(env, servers, settings), ExtendMode::IfOwned),
);

pub const UNCHECKED: Definition = Definition {
    name: "lua-extend-unchecked",
    about: "lua-extend whose extension is SET key owner PX ttl, without checking the owner",
    build: |env, servers, settings| lock(Base::new(env, servers, settings), ExtendMode::Unchecked),
    ..DEFINITION
};

pub const REACQUIRE: Definition = Definition {
    name: "lua-extend-reacquire",
    about: "lua-extend whose extension takes a lost lock again and continues",
    build: |env, servers, settings| lock(Base::new(env, servers, settings), ExtendMode::Reacquire),
    ..DEFINITION
};

/// KEYS: lock. ARGV: owner, ttl in milliseconds. Returns 1 if the caller holds the lock, else 0.
pub static EXTEND_OR_TAKE: Script = Script::new(
    r#"if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("pexpire",KEYS[1],ARGV[2])
elseif redis.call("set",KEYS[1],ARGV[1],"NX","PX",ARGV[2]) then
    return 1
else
    return 0
end"#,
);

struct LuaExtend {
    base: Base,
    ttl_ms: String,
    mode: ExtendMode,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ExtendMode {
    IfOwned,
    Unchecked,
    Reacquire,
}

fn lock(base: Base, mode: ExtendMode) -> Box<dyn Lock> {
    let ttl_ms = base.settings.ttl.as_millis().to_string();
    Box::new(LuaExtend { base, ttl_ms, mode })
}

impl LuaExtend {
    async fn send_extension(&mut self, lease: &Lease) -> Result<bool, CallError> {
        let Lease { resource, owner, .. } = lease;
        let redis = &mut self.base.redis;
        match self.mode {
            ExtendMode::IfOwned => extend_if_owned(redis, resource, owner, &self.ttl_ms).await,
            ExtendMode::Unchecked => {
                set_px(redis, resource, owner, self.base.settings.ttl).await.map(|()| true)
            }
            ExtendMode::Reacquire => {
                let arguments = [&owner[..], self.ttl_ms.as_bytes()];
                yes_or_no(EXTEND_OR_TAKE.call(redis, &[resource.as_bytes()], &arguments).await?)
            }
        }
    }
}

impl Algorithm for LuaExtend {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let Base { env, settings, redis } = &mut self.base;
        let ttl_ms = &self.ttl_ms;
        let attempt = async || {
            let sent = env.monotonic_clock();
            match take(env, settings, redis, resource, ttl_ms).await {
                Acquisition::Granted(lease) => Acquisition::Granted(Lease {
                    valid_until: Some(sent.plus(settings.ttl)),
                    ..lease
                }),
                other => other,
            }
        };
        Retry::start(env, settings).until_granted(attempt).await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let Base { env, settings, redis } = &mut self.base;
        release(env, settings, redis, &lease).await
    }

    async fn extend(&mut self, lease: &mut Lease) -> Extension {
        let sent = self.base.env.monotonic_clock();
        match self.send_extension(lease).await {
            Ok(true) => {
                lease.valid_until = Some(sent.plus(self.base.settings.ttl));
                Extension::Extended
            }
            Ok(false) => {
                self.base.env.note(Note::LockLost);
                Extension::NotHeld
            }
            Err(error) => Extension::Unknown(error.to_string()),
        }
    }

    fn usage(&self) -> Usage {
        Usage { extends: true, ..Usage::PLAIN }
    }
}

#[cfg(test)]
mod tests {
    use crate::env::Monotonic;
    use crate::lock::{Acquisition, Extension, Lock, Release};
    use crate::testing::{Answer, TestWorld, granted, normal, once, one, one_redis, settings};
    use std::rc::Rc;

    #[test]
    fn an_extended_lock_lives_a_ttl_from_when_the_extension_was_sent() {
        let (world, mut lock) = one_redis("lua-extend", normal);
        let mut lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(lease.valid_until, Some(Monotonic(10_000_000)));
        world.pass(7_000);
        assert_eq!(world.run(lock.extend(&mut lease)), Extension::Extended);
        assert_eq!(lease.valid_until, Some(Monotonic(17_002_000)));
        world.pass(9_000);
        assert_eq!(world.run(lock.release(lease)), Release::Released);
        insta::assert_snapshot!(world.trace(), @r"
            0.000 redis #1 connect
            1.000 redis #1 < SET lock owner-1 NX PX 10000 > +OK
         7002.000 redis #1 < EVALSHA [sha of extend-if-owned] 1 lock owner-1 10000
         7003.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
         7003.000 redis #1 < EVAL [extend-if-owned] 1 lock owner-1 10000 > :1
        16004.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
        16005.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
        16005.000 redis #1 < EVAL [compare-and-delete] 1 lock owner-1 > :1
        ");
    }

    #[test]
    fn a_lost_reply_leaves_the_validity_as_it_was() {
        let (world, mut lock) = one_redis("lua-extend", once("EVALSHA", Answer::Lost));
        let mut lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(
            world.run(lock.extend(&mut lease)),
            Extension::Unknown("no reply within 500 ms".to_owned())
        );
        assert_eq!(lease.valid_until, Some(Monotonic(10_000_000)));
    }

    #[test]
    fn others_wait_while_it_is_extended() {
        let (world, mut lock) = one_redis("lua-extend", normal);
        let mut other = world.lock("lua-extend", &one(), &settings());
        let mut lease = granted(world.run(lock.acquire("lock")));
        for _ in 0..5 {
            world.pass(6_700);
            assert_eq!(world.run(lock.extend(&mut lease)), Extension::Extended);
            assert!(matches!(world.run(other.acquire("lock")), Acquisition::Refused(_)));
        }
    }

    fn late_extension(name: &str) -> (Extension, Rc<TestWorld>, Box<dyn Lock>) {
        let (world, mut lock) = one_redis(name, normal);
        let mut other = world.lock(name, &one(), &settings());
        let mut lease = granted(world.run(lock.acquire("lock")));
        world.pass(10_500);
        granted(world.run(other.acquire("lock")));
        world.trace();
        (world.run(lock.extend(&mut lease)), world, lock)
    }

    #[test]
    fn a_late_extension_finds_the_lock_of_another_and_notes_the_loss() {
        let (extension, world, _lock) = late_extension("lua-extend");
        assert_eq!(extension, Extension::NotHeld);
        insta::assert_snapshot!(world.trace(), @r"
        10504.000 redis #1 < EVALSHA [sha of extend-if-owned] 1 lock owner-1 10000
        10505.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
        10505.000 redis #1 < EVAL [extend-if-owned] 1 lock owner-1 10000 > :0
        10506.000 note LockLost
        10506.000 redis #2 close
        ");
    }

    #[test]
    fn an_extension_that_looks_at_no_owner_overwrites_the_lock_of_another() {
        let (extension, world, _lock) = late_extension("lua-extend-unchecked");
        assert_eq!(extension, Extension::Extended);
        insta::assert_snapshot!(world.trace(), @r"
        10504.000 redis #1 < SET lock owner-1 PX 10000 > +OK
        10505.000 redis #2 close
        ");
    }

    #[test]
    fn a_lock_that_another_had_in_between_is_taken_anew_as_if_nothing_had_happened() {
        for (name, expected) in
            [("lua-extend", Extension::NotHeld), ("lua-extend-reacquire", Extension::Extended)]
        {
            let (world, mut lock) = one_redis(name, normal);
            let mut other = world.lock(name, &one(), &settings());
            let mut lease = granted(world.run(lock.acquire("lock")));
            world.pass(10_500);
            let between = granted(world.run(other.acquire("lock")));
            world.run(other.release(between));
            assert_eq!(world.run(lock.extend(&mut lease)), expected, "{name}");
        }
    }

    #[test]
    fn a_lock_that_another_holds_is_not_taken_anew() {
        assert_eq!(late_extension("lua-extend-reacquire").0, Extension::NotHeld);
    }
}
