//! `redisson-redlock`: a majority of locks, each on its own server.
//!
//! Source: `RedissonRedLock` (deprecated) and `RedissonMultiLock` of the version that [`super`]
//! names; [article](crate::articles) 004, sections 6 and 7. The call is `tryLock(wait, lease)` with
//! the acquire timeout and the ttl:
//!
//! 1. The library takes the locks one after another, each with a lease of **twice the wait**. It
//!    waits for each lock on the lock's channel, for at most that lock's share of the wait.
//! 2. Without a majority the library releases the taken locks and begins again, until the wait is
//!    over. It then **returns false, even if a master keeps its lock** because it did not confirm
//!    the release. It sends no release to a master whose reply was lost in the wait, because the
//!    inner `tryLock` returned false.
//! 3. Each taken lock gets its lease by a **PEXPIRE that ignores the owner**, and the library
//!    ignores the answer 0. Without this step a lock stays for twice the wait. (If a PEXPIRE fails,
//!    the library throws an exception; the model continues.)
//! 4. The release **never reports a failure** (`RedissonMultiLock.unlockInner`), even if masters do
//!    not answer or the lock was lost.
//! 5. The library subtracts neither the time of these steps nor the drift of clocks from the lease:
//!    it **computes no validity**.
//!
//! The model uses the same `uuid:thread` on all servers.

use super::rlock::{LockOptions, RLock, fresh_uuid};
use super::{DEFINITION, MODELS};
use crate::env::Env;
use crate::lock::{
    Acquisition, Algorithm, Definition, Deployment, Lease, Lock, Release, Servers, Settings,
};
use crate::session::Session;
use std::rc::Rc;
use std::time::Duration;

pub const RED_LOCK: Definition = Definition {
    name: "redisson-redlock",
    about: "a majority of redisson locks on independent masters; PEXPIREs that ignore the owner set \
            their lease afterwards",
    deployment: Deployment::Independent,
    models: MODELS,
    build: |env, servers, settings| {
        let (locks, lease) = (locks(&env, servers, settings), settings.ttl);
        Box::new(RedLock { env, locks, lease, wait: settings.acquire_timeout })
    },
    ..DEFINITION
};

struct RedLock {
    env: Env,
    locks: Vec<RLock>,
    lease: Duration,
    wait: Duration,
}

fn locks(env: &Env, servers: &Servers, settings: &Settings) -> Vec<RLock> {
    let Servers::Independent(addresses) = servers else {
        panic!("independent masters are needed, but the servers are {servers:?}")
    };
    let uuid = fresh_uuid(env);
    let options =
        LockOptions { lease: Some(settings.acquire_timeout * 2), ..LockOptions::default() };
    // Each master has its own Redisson client, with the timeout for one master.
    let settings = Settings { command_timeout: settings.node_timeout, ..settings.clone() };
    let lock = |address: &crate::Address| {
        let (address, timeout) = (address.clone(), settings.node_timeout);
        let open = Rc::new(move |env: &Env| Session::fixed(env, &address, timeout));
        RLock::new(uuid.clone(), env.clone(), &settings, options, open)
    };
    addresses.iter().map(lock).collect()
}

impl RedLock {
    async fn give_back(&mut self, key: &str, taken: &mut Vec<(usize, Lease)>) {
        for (place, _) in taken.drain(..) {
            self.locks[place].give_back(key).await;
        }
    }

    async fn release_all(&mut self, key: &str) -> Release {
        for lock in &mut self.locks {
            lock.give_back(key).await;
        }
        Release::Released
    }

    fn count(&self) -> u32 {
        u32::try_from(self.locks.len()).unwrap_or(u32::MAX)
    }

    fn quorum(&self) -> usize {
        self.locks.len() / 2 + 1
    }
}

impl Algorithm for RedLock {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let deadline = self.env.monotonic_clock().plus(self.wait);
        let (mut taken, mut place, mut missing): (Vec<(usize, Lease)>, _, _) = (Vec::new(), 0, 0);
        while place < self.locks.len() {
            let share = (self.wait / self.count()).max(Duration::from_millis(1));
            let patience = share.min(self.env.left(deadline));
            let is_taken = match self.locks[place].try_lock(resource, patience).await {
                Acquisition::Granted(lease) => {
                    taken.push((place, lease));
                    true
                }
                Acquisition::Refused(_) => false,
                Acquisition::Unknown(_) => {
                    self.locks[place].give_back(resource).await;
                    false
                }
            };
            place += 1;
            missing += usize::from(!is_taken);
            if !is_taken && taken.len() >= self.quorum() {
                break;
            }
            if self.locks.len() - missing < self.quorum() {
                self.give_back(resource, &mut taken).await;
                (place, missing) = (0, 0);
            }
            if self.env.left(deadline).is_zero() {
                self.give_back(resource, &mut taken).await;
                return Acquisition::Refused("no majority in time".into());
            }
        }
        for (place, _) in &taken {
            self.locks[*place].expire(resource, self.lease).await;
        }
        taken.pop().map_or(Acquisition::Refused("there are no servers".into()), |(_, lease)| {
            Acquisition::Granted(lease)
        })
    }

    async fn release(&mut self, lease: Lease) -> Release {
        self.release_all(&lease.resource).await
    }

    fn for_thread(&self, env: Env) -> Option<Box<dyn Lock>> {
        let locks = self.locks.iter().map(|lock| lock.for_thread(env.clone())).collect();
        Some(Box::new(RedLock { env, locks, lease: self.lease, wait: self.wait }))
    }
}
