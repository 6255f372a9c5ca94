//! `spring-registry`: first the threads of each process compete, and then the processes.
//!
//! Source: `RedisLockRegistry` of Spring Integration, 7.x of 2026, in its default mode (spin lock,
//! no renewal); article 004, 4 and 5.
//!
//! `tryLock(wait, ttl)` takes the process's ReentrantLock within `wait`, and then runs [`OBTAIN`]
//! every 100 ms for another `wait`. The outermost unlock removes the key if it has the registry's
//! id.
//!
//! The value is the registry's id for the life of a process, so **a process treats its own stale
//! lock as held**, and only the ReentrantLock separates its threads. Unlike in the library, each
//! thread has its own connection.

use crate::call_error::CallError;
use crate::commands::yes_or_no;
use crate::env::Env;
use crate::lock::{
    Acquisition, Algorithm, Definition, Deployment, Lease, Release, Servers, Settings, Usage,
};
use crate::owned_key::{delete_if_owned, fresh_owner};
use crate::script::Script;
use crate::session::Session;
use bytes::Bytes;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

/// The library's `idleBetweenTries`.
const IDLE: Duration = Duration::from_millis(100);

pub const DEFINITION: Definition = Definition {
    name: "spring-registry",
    about: "a lock inside the process, then a Redis key that a Lua script sets to the process's \
            id; no renewal",
    deployment: Deployment::Primary,
    has_tokens: false,
    is_fair: false,
    models: Some("Spring Integration RedisLockRegistry 7.x (2026), spin lock"),
    build: |env, servers, settings| {
        let registry = Registry::new(&env);
        Box::new(SpringRegistry::new(&registry, env, servers, settings))
    },
};

/// Takes the lock, or extends the registry's own lock. KEYS: lock. ARGV: the registry's id, ttl in
/// milliseconds. Returns 1 if the registry holds the lock, otherwise 0.
pub static OBTAIN: Script = Script::new(
    r#"local holder = redis.call("get",KEYS[1])
if holder == ARGV[1] then
    redis.call("pexpire",KEYS[1],ARGV[2])
    return 1
elseif not holder then
    redis.call("set",KEYS[1],ARGV[1],"PX",ARGV[2])
    return 1
end
return 0"#,
);

pub struct Registry {
    client_id: Bytes,
    holder: Cell<Option<Holder>>,
    waiting: RefCell<Vec<Waker>>,
}

#[derive(Clone, Copy)]
struct Holder {
    thread: u16,
    count: usize,
}

impl Registry {
    pub fn new(env: &Env) -> Rc<Registry> {
        Registry::with_id(fresh_owner(env))
    }

    pub(crate) fn with_id(client_id: Bytes) -> Rc<Registry> {
        let (holder, waiting) = (Cell::new(None), RefCell::default());
        Rc::new(Registry { client_id, holder, waiting })
    }

    pub(crate) fn client_id(&self) -> &Bytes {
        &self.client_id
    }

    pub(crate) async fn lock_inside(&self, thread: u16) {
        poll_fn(|context| match self.holder.get() {
            Some(holder) if holder.thread != thread => {
                self.waiting.borrow_mut().push(context.waker().clone());
                Poll::Pending
            }
            holder => {
                let count = holder.map_or(0, |holder| holder.count) + 1;
                self.holder.set(Some(Holder { thread, count }));
                Poll::Ready(())
            }
        })
        .await;
    }

    pub(crate) fn unlock_inside(&self) {
        let left = self.holder.get().filter(|holder| holder.count > 1);
        self.holder.set(left.map(|holder| Holder { count: holder.count - 1, ..holder }));
        self.waiting.take().into_iter().for_each(Waker::wake);
    }

    pub(crate) fn is_nested(&self) -> bool {
        self.holder.get().is_some_and(|holder| holder.count > 1)
    }
}

pub struct SpringRegistry {
    registry: Rc<Registry>,
    env: Env,
    servers: Servers,
    settings: Settings,
    redis: Session,
}

impl SpringRegistry {
    pub fn new(
        registry: &Rc<Registry>,
        env: Env,
        servers: &Servers,
        settings: &Settings,
    ) -> SpringRegistry {
        let redis = Session::primary(&env, servers, settings);
        let (registry, servers, settings) = (registry.clone(), servers.clone(), settings.clone());
        SpringRegistry { registry, env, servers, settings, redis }
    }

    /// Waits for the full `wait`, even after a wait for the ReentrantLock, as the library does.
    async fn try_outside(&mut self, key: &str, wait: Duration) -> Acquisition {
        let wait_ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
        // The library reads `System.currentTimeMillis()`.
        let deadline = self.env.wall_clock().as_millis().saturating_add(wait_ms);
        loop {
            match self.obtain(key).await {
                Ok(true) => {
                    let (resource, owner) = (key.to_owned(), self.registry.client_id.clone());
                    return Acquisition::Granted(Lease {
                        resource,
                        owner,
                        token: None,
                        valid_until: None,
                    });
                }
                Ok(false) if self.env.wall_clock().as_millis() >= deadline => {
                    return Acquisition::Refused("held by another process".into());
                }
                Ok(false) => {
                    self.env.sleep(IDLE).await;
                    if self.env.is_interrupted() {
                        return Acquisition::Refused("interrupted".into());
                    }
                }
                Err(error) if error.may_have_applied() => {
                    return Acquisition::Unknown(error.to_string());
                }
                Err(error) => return Acquisition::Refused(error.to_string().into()),
            }
        }
    }

    async fn obtain(&mut self, key: &str) -> Result<bool, CallError> {
        let ttl_ms = self.settings.ttl.as_millis().to_string();
        let arguments = [&self.registry.client_id[..], ttl_ms.as_bytes()];
        yes_or_no(OBTAIN.call(&mut self.redis, &[key.as_bytes()], &arguments).await?)
    }

    async fn unlock(&mut self, key: &str) -> Release {
        if self.registry.is_nested() {
            self.registry.unlock_inside();
            return Release::Released;
        }
        let removal = delete_if_owned(&mut self.redis, key, &self.registry.client_id).await;
        self.registry.unlock_inside();
        match removal {
            Ok(true) => Release::Released,
            // The library throws a ConcurrentModificationException here.
            Ok(false) => Release::NotHeld,
            Err(error) if error.may_have_applied() => Release::Unknown(error.to_string()),
            Err(error) => Release::Unknown(format!("not released: {error}")),
        }
    }
}

impl Algorithm for SpringRegistry {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let wait = self.settings.acquire_timeout;
        if self.env.timeout(wait, self.registry.lock_inside(self.env.thread())).await.is_none() {
            return Acquisition::Refused("held by another thread of this process".into());
        }
        let outcome = self.try_outside(resource, wait).await;
        if !matches!(outcome, Acquisition::Granted(_)) {
            self.registry.unlock_inside();
        }
        outcome
    }

    async fn release(&mut self, lease: Lease) -> Release {
        self.unlock(&lease.resource).await
    }

    fn for_thread(&self, env: Env) -> Option<Box<dyn crate::lock::Lock>> {
        Some(Box::new(SpringRegistry::new(&self.registry, env, &self.servers, &self.settings)))
    }

    fn usage(&self) -> Usage {
        Usage { nests: true, ..Usage::PLAIN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Answer, TestWorld, both, granted, normal, one, one_redis, settings};

    fn threads(world: &Rc<TestWorld>) -> [SpringRegistry; 2] {
        let registry = Registry::new(&world.env());
        [1, 2].map(|thread| {
            SpringRegistry::new(&registry, world.env().for_thread(thread), &one(), &settings())
        })
    }

    #[test]
    fn two_threads_of_one_process_never_hold_it_together() {
        let world = TestWorld::new();
        world.serve("redis", normal);
        let [mut first, mut second] = threads(&world);
        let held = granted(world.run(first.acquire("lock")));
        assert!(matches!(world.run(second.acquire("lock")), Acquisition::Refused(_)));
        let waited = async {
            world.env().sleep(Duration::from_millis(300)).await;
            first.release(held).await
        };
        let (_, released) =
            world.run(both(async { granted(second.acquire("lock").await) }, waited));
        assert_eq!(released, Release::Released);
    }

    #[test]
    fn a_lock_makes_that_of_another_thread_of_its_process() {
        let (world, mut first) = one_redis("spring-registry", normal);
        let mut second = first.for_thread(world.env().for_thread(2)).unwrap();
        let held = granted(world.run(first.acquire("lock")));
        assert!(matches!(
            world.run(second.acquire("lock")),
            Acquisition::Refused(reason) if reason.contains("thread")
        ));
        assert_eq!(world.run(first.release(held.clone())), Release::Released);
        let theirs = granted(world.run(second.acquire("lock")));
        assert_eq!(theirs.owner, held.owner, "one id for the process");
    }

    #[test]
    fn nothing_but_the_lock_inside_the_process_keeps_its_threads_apart() {
        let world = TestWorld::new();
        world.serve("redis", normal);
        let [mut first, mut second] = threads(&world);
        granted(world.run(first.acquire("lock")));
        // Redis grants the lock to both threads, because both send the registry's id.
        assert_eq!(world.run(second.obtain("lock")), Ok(true));
    }

    #[test]
    fn a_thread_takes_it_again_and_only_its_last_release_frees_it() {
        let (world, mut lock) = one_redis("spring-registry", normal);
        let mut other = world.lock("spring-registry", &one(), &settings());
        let outer = granted(world.run(lock.acquire("lock")));
        let inner = granted(world.run(lock.acquire("lock")));
        assert_eq!(world.run(lock.release(inner)), Release::Released);
        assert!(matches!(world.run(other.acquire("lock")), Acquisition::Refused(_)));
        assert_eq!(world.run(lock.release(outer)), Release::Released);
        granted(world.run(other.acquire("lock")));
    }

    #[test]
    fn a_release_after_an_overrun_says_that_the_lock_was_lost() {
        let (world, mut lock) = one_redis("spring-registry", normal);
        let mut other = world.lock("spring-registry", &one(), &settings());
        let lease = granted(world.run(lock.acquire("lock")));
        world.pass(10_001);
        let theirs = granted(world.run(other.acquire("lock")));
        assert_eq!(world.run(lock.release(lease)), Release::NotHeld);
        assert_eq!(
            world.run(other.release(theirs)),
            Release::Released,
            "the release removed nothing of another"
        );
    }

    #[test]
    fn a_failed_attempt_gives_the_lock_inside_the_process_back() {
        let (world, mut lock) =
            one_redis("spring-registry", crate::testing::once("EVALSHA", Answer::Lost));
        assert!(matches!(world.run(lock.acquire("lock")), Acquisition::Unknown(_)));
        let lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(world.run(lock.release(lease)), Release::Released);
        assert_eq!(world.value("redis", "lock"), None);
    }
}
