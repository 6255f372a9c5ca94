//! `redlock`: the lock must be granted by most of N independent masters, within its own lifetime. Must never know who judges it.
//!
//! "Distributed Locks with Redis" (redis.io), section "The Redlock Algorithm". The five steps stand in [`Redlock::attempt`] in the document's order;
//! the masters are asked one after the other, as it says. Libraries ask them in parallel; that is another client.

use crate::connection::{CallError, Reply, Session};
use crate::env::{BoxFuture, Env};
use crate::lock::{Acquisition, Lease, Lock, Release, Servers, Settings};
use crate::owner::{self, Deletion};
use crate::single_node::Patience;
use bytes::Bytes;
use std::time::Duration;

/// What the document adds to the drift for the precision of expiry in Redis (1 ms) and the smallest drift (1 ms).
const DRIFT_MIN: Duration = Duration::from_millis(2);

/// The lock of one process.
pub struct Redlock {
    env: Env,
    masters: Vec<Session>,
    settings: Settings,
}

/// What the masters said.
#[derive(Default)]
struct Votes {
    granted: usize,
    /// No reply: granted or not, or still to be.
    doubtful: usize,
}

impl Redlock {
    /// The lock of one process, for the table of locks. Panics unless the servers are independent masters.
    pub fn build(env: Env, servers: &Servers, settings: &Settings) -> Box<dyn Lock> {
        let Servers::Independent(addresses) = servers else { panic!("redlock needs independent masters") };
        let session = |address| Session::new(env.clone(), address, settings.node_timeout);
        let masters = addresses.iter().cloned().map(session).collect();
        Box::new(Redlock { env, masters, settings: settings.clone() })
    }

    fn quorum(&self) -> usize {
        self.masters.len() / 2 + 1
    }

    /// Clock drift between processes: 1 % of the ttl, and [`DRIFT_MIN`].
    fn drift(&self) -> Duration {
        self.settings.ttl / 100 + DRIFT_MIN
    }

    /// One attempt with one owner value.
    async fn attempt(&mut self, resource: &str, owner: Bytes) -> Result<Lease, Votes> {
        // 1. It gets the current time.
        let start = self.env.monotonic_clock();
        // 2. It tries to acquire the lock in all the N instances sequentially, with a timeout that is small against the ttl.
        let votes = self.ask_all(resource, &owner).await;
        // 3. It computes how much time elapsed. The lock is acquired if a majority granted it and it is still valid.
        // 4. Its validity is the initial validity time minus the time elapsed, minus the drift.
        let now = self.env.monotonic_clock();
        let validity = self.settings.ttl.saturating_sub(now.since(start)).saturating_sub(self.drift());
        if votes.granted >= self.quorum() && validity > Duration::ZERO {
            let valid_until = Some(now.plus(validity));
            return Ok(Lease { resource: resource.to_owned(), owner, token: None, valid_until });
        }
        // 5. If it failed, it unlocks all the instances, even those where it believes that it was not able to lock.
        self.unlock_all(resource, &owner).await;
        Err(votes)
    }

    async fn ask_all(&mut self, resource: &str, owner: &[u8]) -> Votes {
        let ttl = self.settings.ttl.as_millis().to_string();
        let set: [&[u8]; 6] = [b"SET", resource.as_bytes(), owner, b"NX", b"PX", ttl.as_bytes()];
        let mut votes = Votes::default();
        for master in &mut self.masters {
            match master.call(&set).await {
                Ok(Reply::SimpleString(word)) if &word[..] == b"OK" => votes.granted += 1,
                Ok(_) | Err(CallError::NotSent(_) | CallError::Refused(_)) => {}
                Err(CallError::Lost(_)) => votes.doubtful += 1,
            }
        }
        votes
    }

    /// Deletes our value everywhere. Gives how many masters had it, and how many did not say.
    async fn unlock_all(&mut self, resource: &str, owner: &[u8]) -> Votes {
        let mut votes = Votes::default();
        for master in &mut self.masters {
            match owner::compare_and_delete(master, resource, owner).await {
                Ok(Deletion::Deleted) => votes.granted += 1,
                Ok(Deletion::NotOurs) => {}
                Err(_) => votes.doubtful += 1,
            }
        }
        votes
    }

    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let mut patience = Patience::new(&self.env, &self.settings);
        loop {
            let owner = owner::fresh(&self.env);
            match self.attempt(resource, owner).await {
                Ok(lease) => return Acquisition::Granted(lease),
                Err(votes) if votes.granted + votes.doubtful >= self.quorum() && votes.doubtful > 0 => {
                    let silent = CallError::Lost(format!("{} masters did not answer", votes.doubtful));
                    patience.doubtful(silent, false);
                }
                Err(_) => patience.held(),
            }
            if patience.is_exhausted() {
                return patience.give_up();
            }
            // The delay is random, so that processes that try at the same time do not go on doing so.
            self.env.sleep(self.env.jitter(&self.settings.retry)).await;
        }
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let votes = self.unlock_all(&lease.resource, &lease.owner).await;
        if votes.granted >= self.quorum() {
            Release::Released
        } else if votes.granted + votes.doubtful >= self.quorum() {
            Release::Unknown(format!("{} masters did not answer", votes.doubtful))
        } else {
            Release::NotHeld
        }
    }
}

impl Lock for Redlock {
    fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition> {
        Box::pin(Redlock::acquire(self, resource))
    }

    fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release> {
        Box::pin(Redlock::release(self, lease))
    }
}
