//! `redlock`: the lock on N independent masters.
//!
//! Source: Redis documentation, "Distributed Locks with Redis", "The Redlock Algorithm", in its
//! five steps:
//!
//! 1. It gets the current time in milliseconds.
//! 2. It tries to acquire the lock in all the N instances sequentially, using the same key name and
//!    random value in all the instances, with a timeout that is small compared to the total lock
//!    auto-release time.
//! 3. It computes how much time elapsed since step 1. If and only if it was able to acquire the
//!    lock in the majority of the instances, and the total time elapsed is less than the lock
//!    validity time, the lock is considered to be acquired.
//! 4. If the lock was acquired, its validity time is considered to be the initial validity time
//!    minus the time elapsed.
//! 5. If it failed to acquire the lock, it will try to unlock all the instances, even those it
//!    believed it had not locked.
//!
//! "Retry on failure" adds the random delay, "Safety arguments" the drift: `MIN_VALIDITY = TTL -
//! (T2 - T1) - CLOCK_DRIFT`; that the drift is 1 % of the ttl and 2 ms is from the reference
//! implementation (redlock-rb). The time is that of the monotonic clock, as Sanfilippo concedes to
//! Kleppmann that it should be ("Is Redlock safe?", 2016). What libraries do otherwise is in
//! [`variants`].

pub mod variants;

use crate::connection::CallError;
use crate::env::{BoxFuture, Env};
use crate::lock::{Acquisition, Definition, Deployment, Lease, Lock, Release, Servers, Settings};
use crate::owned_key::{RELEASE_ATTEMPTS, delete_if_owned, fresh_owner, set_if_absent};
use crate::retry::Retry;
use crate::session::Session;
use bytes::Bytes;
use variants::{GivesBack, Habits, join_all};

/// The entry in the table of locks.
pub const DEFINITION: Definition = Definition {
    name: "redlock",
    about: "the Redlock algorithm: a majority of independent masters within the validity time",
    deployment: Deployment::Independent,
    has_tokens: false,
    is_fair: false,
    models: None,
    build: |env, servers, settings| lock(env, servers, settings, Habits::default()),
};

struct Redlock {
    env: Env,
    settings: Settings,
    habits: Habits,
    masters: Vec<Session>,
    ttl_ms: String,
    /// Which masters answered that they locked, in the attempt that was granted.
    answered: Vec<bool>,
}

/// The lock with these habits.
fn lock(env: Env, servers: &Servers, settings: &Settings, habits: Habits) -> Box<dyn Lock> {
    let (masters, ttl_ms) =
        (Session::independent(&env, servers, settings), settings.ttl.as_millis().to_string());
    Box::new(Redlock {
        env,
        settings: settings.clone(),
        habits,
        masters,
        ttl_ms,
        answered: Vec::new(),
    })
}

/// What one master made of one attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Vote {
    /// It has our key.
    Locked,
    /// It certainly has not.
    NotLocked,
    /// Its reply was lost.
    Unknown,
}

/// What one master made of a release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Removal {
    /// It removed our key.
    Removed,
    /// It did not have our key.
    Absent,
    /// It does not have our key any more, but a reply was lost: it removed the key, or the key had
    /// expired.
    Gone,
    /// It gave no answer; `reached` if the request may have arrived.
    Unanswered { reached: bool },
}

/// How an attempt ended that did not bring the lock.
struct Failure {
    reason: String,
    /// Whether some master may still hold our key.
    standing: bool,
    /// Whether the library tries no more.
    is_final: bool,
}

impl Redlock {
    async fn try_until_timeout(&mut self, resource: &str) -> Acquisition {
        let mut retry = Retry::start(&self.env, &self.settings);
        let mut standing = None;
        let mut owner = fresh_owner(&self.env);
        for attempt in 1.. {
            let failure = match self.attempt(resource, &owner).await {
                Ok(lease) => return Acquisition::Granted(lease),
                Err(failure) => failure,
            };
            if failure.standing {
                standing = Some(failure.reason.clone());
            }
            if failure.is_final || attempt == self.habits.attempts_max || !retry.again().await {
                if self.habits.gives_back == GivesBack::AtTheEnd {
                    self.unlock_all(resource, &owner, &[]).await;
                }
                return standing.map_or_else(
                    || Acquisition::Refused(failure.reason.into()),
                    Acquisition::Unknown,
                );
            }
            if !self.habits.keeps_owner {
                owner = fresh_owner(&self.env);
            }
        }
        unreachable!("an attempt without a successor returns")
    }

    /// The five steps.
    async fn attempt(&mut self, resource: &str, owner: &Bytes) -> Result<Lease, Failure> {
        // 1. The current time.
        let start = self.habits.clock.read(&self.env);

        // 2. All instances, one after the other, with the same key and random value.
        let (votes, has_raised) = match self.habits.together {
            false => self.lock_all(resource, owner).await,
            true => self.lock_together(resource, owner).await,
        };

        // 3. A majority, within the validity time. 4. The validity is what remains of the ttl.
        let locked = votes.iter().filter(|vote| **vote == Vote::Locked).count();
        let valid_until = self.habits.validity_end(&self.env, start, self.settings.ttl);
        let in_time = !self.habits.checks_validity || valid_until > self.env.monotonic_clock();
        let is_locked = locked >= self.quorum() && in_time;
        if is_locked && self.habits.raises && has_raised {
            let reason = format!("locked {locked} of {}, and raised for the others", votes.len());
            return Err(Failure { reason, standing: true, is_final: true });
        }
        if is_locked {
            self.answered = votes.iter().map(|vote| *vote == Vote::Locked).collect();
            let valid_until = Some(valid_until).filter(|_| self.habits.states_validity);
            let token = self.habits.token_of(owner);
            return Ok(Lease {
                resource: resource.to_owned(),
                owner: owner.clone(),
                token,
                valid_until,
            });
        }

        // 5. Unlock all instances.
        let standing = match self.habits.gives_back {
            GivesBack::AtTheEnd => locked > 0,
            _ => self.unlock_all(resource, owner, &votes).await,
        };
        let late = if in_time { "" } else { ", too late" };
        Err(Failure {
            reason: format!("locked {locked} of {}{late}", votes.len()),
            standing,
            is_final: false,
        })
    }

    /// What every master said, and whether one of them gave no answer.
    async fn lock_all(&mut self, resource: &str, owner: &Bytes) -> (Vec<Vote>, bool) {
        let (mut votes, mut has_raised) = (Vec::with_capacity(self.masters.len()), false);
        for master in &mut self.masters {
            let answer = set_if_absent(master, resource, owner, &self.ttl_ms).await;
            has_raised |= answer.is_err();
            votes.push(Vote::of(&answer));
        }
        (votes, has_raised)
    }

    /// The same, all at once.
    async fn lock_together(&mut self, resource: &str, owner: &Bytes) -> (Vec<Vote>, bool) {
        let ttl_ms = &self.ttl_ms;
        let ask = |master| -> BoxFuture<'_, _> {
            Box::pin(set_if_absent(master, resource, owner, ttl_ms))
        };
        let answers = join_all(self.masters.iter_mut().map(ask).collect()).await;
        (answers.iter().map(Vote::of).collect(), answers.iter().any(Result::is_err))
    }

    /// Step 5; `true` if some master may still hold our key. Without votes all are asked.
    async fn unlock_all(&mut self, resource: &str, owner: &Bytes, votes: &[Vote]) -> bool {
        let mut standing = false;
        for (number, master) in self.masters.iter_mut().enumerate() {
            let vote = votes.get(number).copied().unwrap_or(Vote::Unknown);
            if self.habits.gives_back == GivesBack::Answered && vote != Vote::Locked {
                standing |= vote == Vote::Unknown;
                continue;
            }
            let removal = delete_if_owned(master, resource, owner).await;
            standing |= may_stand(vote, &removal);
        }
        standing
    }

    /// Asks every master to remove our key; those that did not answer are asked again, a bounded
    /// number of times.
    async fn release_all(&mut self, lease: &Lease) -> Release {
        let mut removals = vec![Removal::Unanswered { reached: false }; self.masters.len()];
        if self.habits.gives_back == GivesBack::Answered {
            for (removal, _) in
                removals.iter_mut().zip(&self.answered).filter(|(_, answered)| !**answered)
            {
                *removal = Removal::Absent;
            }
        }
        for attempt in 0..RELEASE_ATTEMPTS {
            if attempt > 0 {
                self.env.sleep(self.env.jitter(&self.settings.retry)).await;
            }
            for (master, removal) in self.masters.iter_mut().zip(&mut removals) {
                if let Removal::Unanswered { reached } = *removal {
                    *removal = removal_of(
                        reached,
                        delete_if_owned(master, &lease.resource, &lease.owner).await,
                    );
                }
            }
            match judge(&removals, self.quorum()) {
                Release::Unknown(reason) if attempt + 1 == RELEASE_ATTEMPTS => {
                    return Release::Unknown(reason);
                }
                Release::Unknown(_) => {}
                decided => return decided,
            }
        }
        judge(&removals, self.quorum())
    }

    /// N/2+1.
    fn quorum(&self) -> usize {
        self.masters.len() / 2 + 1
    }
}

impl Vote {
    fn of(answer: &Result<bool, CallError>) -> Vote {
        match answer {
            Ok(true) => Vote::Locked,
            Ok(false) => Vote::NotLocked,
            Err(error) if error.may_have_applied() => Vote::Unknown,
            Err(_) => Vote::NotLocked,
        }
    }
}

/// Whether a master may hold our key after we tried to remove it.
fn may_stand(vote: Vote, removal: &Result<bool, CallError>) -> bool {
    match (vote, removal) {
        (_, Ok(true)) | (Vote::NotLocked, _) | (Vote::Locked, Ok(false)) => false,
        // The lost request may be on its way even if the key is not there yet.
        (Vote::Unknown, _) | (Vote::Locked, Err(_)) => true,
    }
}

fn removal_of(reached: bool, answer: Result<bool, CallError>) -> Removal {
    match answer {
        Ok(true) => Removal::Removed,
        Ok(false) if reached => Removal::Gone,
        Ok(false) => Removal::Absent,
        Err(error) => Removal::Unanswered { reached: reached || error.may_have_applied() },
    }
}

/// The lock was released if a majority removed our key, and was not held if no majority can have
/// had it.
fn judge(removals: &[Removal], quorum: usize) -> Release {
    let count =
        |wanted: fn(&Removal) -> bool| removals.iter().filter(|removal| wanted(removal)).count();
    let removed = count(|removal| *removal == Removal::Removed);
    let absent = count(|removal| *removal == Removal::Absent);
    if removed >= quorum {
        Release::Released
    } else if removals.len() - absent < quorum {
        Release::NotHeld
    } else {
        Release::Unknown(format!(
            "{removed} of {} masters removed the key, {absent} did not have it",
            removals.len()
        ))
    }
}

impl Lock for Redlock {
    fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition> {
        Box::pin(self.try_until_timeout(resource))
    }

    fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release> {
        Box::pin(async move { self.release_all(&lease).await })
    }
}

#[cfg(test)]
mod tests;
