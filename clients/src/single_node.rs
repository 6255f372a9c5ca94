//! `single-node`: SET key owner NX PX ttl; release by compare-and-delete. Must never know who judges it.
//!
//! The canonical client of "Distributed Locks with Redis" (redis.io), section "Correct Implementation with a Single Instance": a random owner
//! value, fresh for every attempt, and a release that deletes the key only if it still holds that value. It states no validity.

use crate::connection::{CallError, Reply};
use crate::env::{BoxFuture, Env, Monotonic};
use crate::lock::{Acquisition, Lease, Lock, Release, Servers, Settings};
use crate::owner::{self, Deletion};
use crate::primary::Primary;
use bytes::Bytes;
use std::time::Duration;

/// How often a release is sent before its outcome is left unknown. Sending it again is harmless: it only ever deletes its own value.
const RELEASE_ATTEMPTS: u32 = 3;

/// The lock of one process.
pub struct SingleNode {
    env: Env,
    primary: Primary,
    settings: Settings,
}

/// How one attempt ended.
pub(crate) enum Attempt {
    Granted,
    Held,
    /// Certainly not applied.
    Failed(CallError),
    /// Perhaps applied.
    Doubtful(CallError),
}

impl SingleNode {
    /// The lock of one process, for the table of locks.
    pub fn build(env: Env, servers: &Servers, settings: &Settings) -> Box<dyn Lock> {
        Box::new(SingleNode { primary: Primary::new(env.clone(), servers, settings), env, settings: settings.clone() })
    }

    async fn attempt(&mut self, resource: &str, owner: &Bytes) -> Attempt {
        let ttl = self.settings.ttl.as_millis().to_string();
        let set: [&[u8]; 6] = [b"SET", resource.as_bytes(), owner, b"NX", b"PX", ttl.as_bytes()];
        read_attempt(self.primary.call(&set).await)
    }

    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let mut patience = Patience::new(&self.env, &self.settings);
        loop {
            let owner = owner::fresh(&self.env);
            match self.attempt(resource, &owner).await {
                Attempt::Granted => return Acquisition::Granted(lease(resource, owner)),
                Attempt::Held => patience.held(),
                Attempt::Failed(error) => patience.failed(error),
                Attempt::Doubtful(error) => {
                    // Nobody will ever release what this attempt may have written: try to take it back.
                    let undone = owner::compare_and_delete(&mut self.primary, resource, &owner).await;
                    patience.doubtful(error, undone == Ok(Deletion::Deleted));
                }
            }
            if patience.is_exhausted() {
                return patience.give_up();
            }
            self.env.sleep(self.env.jitter(&self.settings.retry)).await;
        }
    }
}

impl Lock for SingleNode {
    fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition> {
        Box::pin(SingleNode::acquire(self, resource))
    }

    fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release> {
        Box::pin(release_at(&mut self.primary, lease))
    }
}

/// Reads the reply of a SET NX.
fn read_attempt(reply: Result<Reply, CallError>) -> Attempt {
    match reply {
        Ok(Reply::SimpleString(word)) if &word[..] == b"OK" => Attempt::Granted,
        Ok(Reply::Null) => Attempt::Held,
        Ok(other) => Attempt::Doubtful(CallError::Lost(format!("SET answered {other:?}"))),
        Err(error @ CallError::Lost(_)) => Attempt::Doubtful(error),
        Err(error) => Attempt::Failed(error),
    }
}

fn lease(resource: &str, owner: Bytes) -> Lease {
    Lease { resource: resource.to_owned(), owner, token: None, valid_until: None }
}

/// Releases a lease at the primary, by its owner value.
pub(crate) async fn release_at(primary: &mut Primary, lease: Lease) -> Release {
    let mut doubt = None;
    for _ in 0..RELEASE_ATTEMPTS {
        match owner::compare_and_delete(primary, &lease.resource, &lease.owner).await {
            Ok(Deletion::Deleted) => return Release::Released,
            Ok(Deletion::NotOurs) => {
                // After a lost reply this says nothing: an earlier attempt may have deleted it.
                return doubt.map_or(Release::NotHeld, Release::Unknown);
            }
            Err(CallError::Lost(error)) => doubt = Some(error),
            Err(error) => doubt = Some(doubt.unwrap_or_else(|| error.to_string())),
        }
    }
    Release::Unknown(doubt.unwrap_or_default())
}

/// How long an acquire goes on trying, and what it says when it gives up.
pub(crate) struct Patience {
    env: Env,
    deadline: Monotonic,
    retry_min: Duration,
    reason: String,
    is_doubtful: bool,
}

impl Patience {
    pub(crate) fn new(env: &Env, settings: &Settings) -> Patience {
        let deadline = env.monotonic_clock().plus(settings.acquire_timeout);
        let retry_min = *settings.retry.start();
        Patience { env: env.clone(), deadline, retry_min, reason: String::new(), is_doubtful: false }
    }

    /// Somebody else holds the lock.
    pub(crate) fn held(&mut self) {
        self.reason = "held by another".to_owned();
    }

    /// The attempt certainly did nothing.
    pub(crate) fn failed(&mut self, error: CallError) {
        self.reason = error.to_string();
    }

    /// The attempt may have taken the lock, unless it was undone.
    pub(crate) fn doubtful(&mut self, error: CallError, undone: bool) {
        self.reason = error.to_string();
        self.is_doubtful |= !undone;
    }

    /// Whether there is no time for another attempt.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.env.monotonic_clock().plus(self.retry_min) >= self.deadline
    }

    /// What to answer when time is up.
    pub(crate) fn give_up(self) -> Acquisition {
        if self.is_doubtful { Acquisition::Unknown(self.reason) } else { Acquisition::Refused(self.reason) }
    }
}
