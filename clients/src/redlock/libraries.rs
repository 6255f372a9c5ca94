//! Redlock as three libraries implement it, with this crate's connections and timeouts. All three
//! use one random value for all attempts of an acquire, and **report a failure after the last
//! attempt, even if masters keep the value** because they did not receive or confirm the unlock.
//!
//! - `redlock-py` 1.0.8 asks the masters in turn. It measures the elapsed time by **`time.time()`,
//!   the wall clock**, with a drift of 1 % and 2 ms, and makes up to 3 attempts 200 ms apart. If a
//!   call fails although a majority was locked in time, it **raises `MultipleRedlockException`**
//!   and unlocks nothing. Its release asks each master once and **never reports a failure**. The
//!   model has no retries of redis-py, which retries if redlock-py gets its servers as dicts, but
//!   not if it gets URLs.
//! - `node-redlock` 5 asks all masters in parallel, by a script that calls EXISTS and then SET,
//!   with a drift of 1 % and 2 ms. The validity ends **on the wall clock** (`Date.now()`), and the
//!   library **does not compare this end with the current time**. It makes up to 10 retries 100 to
//!   300 ms apart, also for a release, and **releases a failed attempt's keys only after the last
//!   attempt**. A failed release does not say whether the lock had expired. The model counts the
//!   validity from the attempt that succeeded, as the main branch does; 5.0.0-beta.2 counts it from
//!   the first attempt. Unlike the library, the model waits for every master's answer, even after a
//!   majority has answered.
//! - `redsync` 4 asks all masters in parallel, with a drift of 1 %. It makes up to 32 tries 50 to
//!   250 ms apart. Its release asks all masters once, in parallel. After a failed release,
//!   `ErrLockAlreadyExpired` means that **one master had no key**, and the model returns `NotHeld`.
//!   The model unlocks a failed attempt's masters in turn, the library in parallel.

use super::masters::{Failure, Masters, quorum};
use super::variants::attempt_together;
use super::{DEFINITION, min_validity};
use crate::call_error::CallError;
use crate::commands::yes_or_no;
use crate::env::{Env, Monotonic, WallClock, whole_micros};
use crate::lock::{Acquisition, Algorithm, Definition, Lease, Release, Servers, Settings};
use crate::owned_key::fresh_owner;
use crate::reply::Reply;
use crate::retry::Retry;
use crate::script::Script;
use crate::session::Session;
use bytes::Bytes;
use std::ops::{ControlFlow, RangeInclusive};
use std::time::Duration;

pub const PYTHON: Definition = Definition {
    name: "redlock-py",
    about: "redlock with the wall clock and three attempts 200 ms apart; raises an exception if a \
            master returned an error",
    models: Some("redlock-py 1.0.8"),
    build: |env, servers, settings| {
        Box::new(Python(Library::new(env, servers, settings, ms(200)..=ms(200))))
    },
    ..DEFINITION
};

pub const NODE: Definition = Definition {
    name: "node-redlock",
    about: "redlock on all masters in parallel; does not check whether the validity has ended; \
            releases only after the last failed attempt",
    models: Some("node-redlock 5 (main branch)"),
    build: |env, servers, settings| {
        Box::new(Node(Library::new(env, servers, settings, ms(100)..=ms(300))))
    },
    ..DEFINITION
};

pub const REDSYNC: Definition = Definition {
    name: "redsync",
    about: "redlock on all masters in parallel, with a drift margin of 1 % only",
    models: Some("redsync 4"),
    build: |env, servers, settings| {
        Box::new(Redsync(Library::new(env, servers, settings, ms(50)..=ms(250))))
    },
    ..DEFINITION
};

/// KEYS: lock. ARGV: owner, ttl in milliseconds. Returns 1 after setting the key, 0 if it existed.
pub(crate) static CREATE: Script = Script::new(
    r#"if redis.call("exists",KEYS[1]) == 1 then
    return 0
end
redis.call("set",KEYS[1],ARGV[1],"PX",ARGV[2])
return 1"#,
);

/// KEYS: lock. ARGV: owner. Returns 1 after deleting the key, -1 if there was none, and 0 if it had
/// another owner.
pub(crate) static DELETE: Script = Script::new(
    r#"local val = redis.call("get",KEYS[1])
if val == ARGV[1] then
    return redis.call("del",KEYS[1])
elseif val == false then
    return -1
else
    return 0
end"#,
);

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// One try and 10 retries (`retryCount`).
const NODE_ATTEMPTS: usize = 11;

struct Library {
    env: Env,
    settings: Settings,
    masters: Masters,
}

impl Library {
    fn new(
        env: Env,
        servers: &Servers,
        settings: &Settings,
        retry: RangeInclusive<Duration>,
    ) -> Library {
        let settings = Settings { retry, ..settings.clone() };
        let masters = Masters::new(&env, servers, &settings);
        Library { env, settings, masters }
    }

    async fn attempts(
        &mut self,
        attempts_max: usize,
        mut attempt: impl AsyncFnMut(&mut Library, &Bytes) -> ControlFlow<Acquisition, Acquisition>,
    ) -> Acquisition {
        let owner = fresh_owner(&self.env);
        let mut retry = Retry::start(&self.env, &self.settings);
        let mut number = 1;
        loop {
            let reason = match attempt(self, &owner).await {
                ControlFlow::Break(outcome) => return outcome,
                ControlFlow::Continue(Acquisition::Granted(lease)) => {
                    return Acquisition::Granted(lease);
                }
                ControlFlow::Continue(Acquisition::Refused(reason)) => reason,
                ControlFlow::Continue(Acquisition::Unknown(reason)) => reason.into(),
            };
            if number == attempts_max || !retry.wait_to_retry().await {
                return Acquisition::Refused(reason);
            }
            number += 1;
        }
    }
}

/// Returns the rest of the validity in microseconds, negative if the wall clock is past the end.
fn validity_left(env: &Env, start: WallClock, ttl: Duration) -> i64 {
    let elapsed = env.wall_clock().0.saturating_sub(start.0);
    let validity = i64::try_from(whole_micros(min_validity(ttl))).unwrap_or(i64::MAX);
    validity.saturating_sub(elapsed)
}

fn end_of(env: &Env, validity_left: i64) -> Monotonic {
    Monotonic(env.monotonic_clock().0.saturating_add_signed(validity_left))
}

struct Python(Library);

impl Algorithm for Python {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let attempt = async |library: &mut Library, owner: &Bytes| {
            let Library { env, settings, masters } = library;
            let start = env.wall_clock();
            let votes = masters.lock_in_turn(resource, owner).await;
            let left = validity_left(env, start, settings.ttl);
            let is_in_time = left > 0;
            if !votes.are_majority() || !is_in_time {
                let may_stand = masters.unlock_all(resource, owner, &votes).await;
                return ControlFlow::Continue(votes.failed(Failure { is_in_time, may_stand }));
            }
            if votes.any_error() {
                let (locked, all) = (votes.locked(), votes.len());
                let reason = format!("locked {locked} of {all}, and raised for the others");
                return ControlFlow::Break(Acquisition::Unknown(reason));
            }
            let valid_until = Some(end_of(env, left));
            ControlFlow::Break(votes.granted(resource, owner.clone(), valid_until))
        };
        self.0.attempts(3, attempt).await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        self.0.masters.unlock_in_turn(&lease).await;
        Release::Released
    }
}

struct Node(Library);

impl Algorithm for Node {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let mut last = None;
        let attempt = async |library: &mut Library, owner: &Bytes| {
            let Library { env, settings, masters } = library;
            let start = env.wall_clock();
            let votes = masters
                .ask_all(|session, ttl_ms| Box::pin(create(session, resource, owner, ttl_ms)))
                .await;
            if votes.are_majority() {
                last = None;
                let valid_until = end_of(env, validity_left(env, start, settings.ttl));
                return ControlFlow::Break(votes.granted(
                    resource,
                    owner.clone(),
                    Some(valid_until),
                ));
            }
            let outcome = votes.failed(Failure { is_in_time: true, may_stand: votes.locked() > 0 });
            last = Some(owner.clone());
            ControlFlow::Continue(outcome)
        };
        let outcome = self.0.attempts(NODE_ATTEMPTS, attempt).await;
        if let Some(owner) = last {
            self.0.masters.unlock_together(resource, &owner).await;
        }
        outcome
    }

    /// Requires that one attempt removes the key from a majority. Earlier attempts do not count.
    async fn release(&mut self, lease: Lease) -> Release {
        let Library { env, settings, masters } = &mut self.0;
        let mut attempt = 1;
        loop {
            let removed = masters.unlock_together(&lease.resource, &lease.owner).await;
            if removed >= quorum(masters.len()) {
                return Release::Released;
            }
            if attempt == NODE_ATTEMPTS {
                let reason = format!("{removed} of {} masters removed the key", masters.len());
                return Release::Unknown(reason);
            }
            env.sleep(env.jitter(&settings.retry)).await;
            if env.is_interrupted() {
                return Release::Unknown("interrupted".to_owned());
            }
            attempt += 1;
        }
    }
}

async fn create(
    session: &mut Session,
    key: &str,
    owner: &[u8],
    ttl_ms: &str,
) -> Result<bool, CallError> {
    yes_or_no(CREATE.call(session, &[key.as_bytes()], &[owner, ttl_ms.as_bytes()]).await?)
}

async fn delete(session: &mut Session, key: &str, owner: &[u8]) -> Result<i64, CallError> {
    match DELETE.call(session, &[key.as_bytes()], &[owner]).await? {
        Reply::Integer(status) => Ok(status),
        reply => Err(CallError::unexpected(&reply)),
    }
}

/// Derives the outcome of a release from redsync's error. If another owner has a majority, the
/// error is `ErrTaken`, which hides `ErrLockAlreadyExpired`.
fn release_outcome(answers: &[Result<i64, CallError>]) -> Release {
    let count = |status| answers.iter().filter(|answer| **answer == Ok(status)).count();
    let (removed, absent, taken) = (count(1), count(-1), count(0));
    let quorum = quorum(answers.len());
    if removed >= quorum {
        return Release::Released;
    }
    if absent > 0 && taken < quorum {
        return Release::NotHeld;
    }
    let masters = answers.len();
    Release::Unknown(format!(
        "{removed} of {masters} masters removed the key, {taken} had another owner's"
    ))
}

struct Redsync(Library);

impl Algorithm for Redsync {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let attempt = async |library: &mut Library, owner: &Bytes| {
            let Library { env, settings, masters } = library;
            let validity = settings.ttl.saturating_sub(settings.ttl / 100);
            let outcome = attempt_together(env, masters, resource, owner, validity).await;
            ControlFlow::Continue(outcome)
        };
        self.0.attempts(32, attempt).await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let answers = self
            .0
            .masters
            .answers(|session, _| Box::pin(delete(session, &lease.resource, &lease.owner)))
            .await;
        release_outcome(&answers)
    }
}

#[cfg(test)]
mod tests;
