use crate::call_error::CallError;
use crate::env::{BoxFuture, Env, Monotonic};
use crate::lock::{Acquisition, Lease, Release, Servers, Settings};
use crate::owned_key::{RELEASE_ATTEMPTS, delete_if_owned, set_if_absent};
use crate::session::Session;
use bytes::Bytes;
use std::future::poll_fn;
use std::task::Poll;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Vote {
    Locked,
    NotLocked,
    Unreached,
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Removal {
    Removed,
    Absent,
    /// The master no longer has the key, which an earlier, unanswered request may have removed.
    Gone,
    Unanswered {
        reached: bool,
    },
}

pub(super) struct Votes(Vec<Vote>);

impl Votes {
    pub(super) fn locked(&self) -> usize {
        self.0.iter().filter(|vote| **vote == Vote::Locked).count()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Vote> {
        self.0.iter().copied()
    }

    pub(super) fn any_error(&self) -> bool {
        self.0.iter().any(|vote| matches!(vote, Vote::Unreached | Vote::Unknown))
    }

    pub(super) fn are_majority(&self) -> bool {
        self.locked() >= quorum(self.len())
    }

    pub(super) fn granted(
        &self,
        resource: &str,
        owner: Bytes,
        valid_until: Option<Monotonic>,
    ) -> Acquisition {
        Acquisition::Granted(Lease {
            resource: resource.to_owned(),
            owner,
            token: None,
            valid_until,
        })
    }

    pub(super) fn failed(&self, failure: Failure) -> Acquisition {
        let late = if failure.is_in_time { "" } else { ", too late" };
        let reason = format!("locked {} of {}{late}", self.locked(), self.len());
        match failure.may_stand {
            true => Acquisition::Unknown(reason),
            false => Acquisition::Refused(reason.into()),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Failure {
    pub(super) is_in_time: bool,
    pub(super) may_stand: bool,
}

pub(super) struct Masters {
    env: Env,
    settings: Settings,
    sessions: Vec<Session>,
    ttl_ms: String,
}

impl Masters {
    pub(super) fn new(env: &Env, servers: &Servers, settings: &Settings) -> Masters {
        Masters {
            env: env.clone(),
            settings: settings.clone(),
            sessions: Session::independent(env, servers, settings),
            ttl_ms: settings.ttl.as_millis().to_string(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.sessions.len()
    }

    pub(super) async fn lock_in_turn(&mut self, resource: &str, owner: &Bytes) -> Votes {
        let mut votes = Vec::with_capacity(self.sessions.len());
        for session in &mut self.sessions {
            let answer = set_if_absent(session, resource, owner, &self.ttl_ms).await;
            votes.push(Vote::of(&answer));
        }
        Votes(votes)
    }

    pub(super) async fn lock_together<'s>(
        &'s mut self,
        resource: &'s str,
        owner: &'s Bytes,
    ) -> Votes {
        self.ask_all(|session, ttl_ms| Box::pin(set_if_absent(session, resource, owner, ttl_ms)))
            .await
    }

    pub(super) async fn ask_all<'s>(
        &'s mut self,
        ask: impl Fn(&'s mut Session, &'s str) -> BoxFuture<'s, Result<bool, CallError>>,
    ) -> Votes {
        Votes(self.answers(ask).await.iter().map(Vote::of).collect())
    }

    /// Asks all masters in parallel.
    pub(super) async fn answers<'s, T>(
        &'s mut self,
        ask: impl Fn(&'s mut Session, &'s str) -> BoxFuture<'s, T>,
    ) -> Vec<T> {
        join_all(self.sessions.iter_mut().map(|session| ask(session, &self.ttl_ms)).collect()).await
    }

    /// Returns the number of masters that removed the key.
    pub(super) async fn unlock_together<'s>(
        &'s mut self,
        resource: &'s str,
        owner: &'s Bytes,
    ) -> usize {
        let answers =
            self.answers(|session, _| Box::pin(delete_if_owned(session, resource, owner))).await;
        answers.iter().filter(|answer| **answer == Ok(true)).count()
    }

    /// Asks each master once, and ignores the answers.
    pub(super) async fn unlock_in_turn(&mut self, lease: &Lease) {
        for session in &mut self.sessions {
            let _ = delete_if_owned(session, &lease.resource, &lease.owner).await;
        }
    }

    pub(super) async fn unlock_all(
        &mut self,
        resource: &str,
        owner: &Bytes,
        votes: &Votes,
    ) -> bool {
        let mut standing = false;
        for (session, vote) in self.sessions.iter_mut().zip(votes.iter()) {
            standing |= may_remain(vote, &delete_if_owned(session, resource, owner).await);
        }
        standing
    }

    /// Skips masters that did not confirm the lock. Returns `true` if any of them may have the key.
    pub(super) async fn unlock_answered(
        &mut self,
        resource: &str,
        owner: &Bytes,
        votes: &Votes,
    ) -> bool {
        let mut standing = false;
        for (session, vote) in self.sessions.iter_mut().zip(votes.iter()) {
            standing |= match vote {
                Vote::Locked => may_remain(vote, &delete_if_owned(session, resource, owner).await),
                vote => vote == Vote::Unknown,
            };
        }
        standing
    }

    pub(super) async fn release(&mut self, lease: &Lease) -> Release {
        let removals = vec![Removal::Unanswered { reached: false }; self.sessions.len()];
        self.release_removing(lease, removals).await
    }

    pub(super) async fn release_answered(&mut self, lease: &Lease, votes: &Votes) -> Release {
        let removal = |vote| match vote {
            Vote::Locked => Removal::Unanswered { reached: false },
            _ => Removal::Absent,
        };
        self.release_removing(lease, votes.iter().map(removal).collect()).await
    }

    async fn release_removing(&mut self, lease: &Lease, mut removals: Vec<Removal>) -> Release {
        let quorum = quorum(self.sessions.len());
        for attempt in 0..RELEASE_ATTEMPTS {
            if attempt > 0 {
                self.env.sleep(self.env.jitter(&self.settings.retry)).await;
            }
            for (session, removal) in self.sessions.iter_mut().zip(&mut removals) {
                if let Removal::Unanswered { reached } = *removal {
                    let answer = delete_if_owned(session, &lease.resource, &lease.owner).await;
                    *removal = removal_of(reached, answer);
                }
            }
            match judge(&removals, quorum) {
                Release::Unknown(_) => {}
                decided => return decided,
            }
        }
        judge(&removals, quorum)
    }
}

pub(super) fn quorum(masters: usize) -> usize {
    masters / 2 + 1
}

impl Vote {
    fn of(answer: &Result<bool, CallError>) -> Vote {
        match answer {
            Ok(true) => Vote::Locked,
            Ok(false) => Vote::NotLocked,
            Err(error) if error.may_have_applied() => Vote::Unknown,
            Err(_) => Vote::Unreached,
        }
    }
}

fn may_remain(vote: Vote, removal: &Result<bool, CallError>) -> bool {
    match (vote, removal) {
        (_, Ok(true)) | (Vote::NotLocked | Vote::Unreached, _) | (Vote::Locked, Ok(false)) => false,
        // A failed DEL may leave the key, and an unanswered SET may still arrive.
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

/// Returns `Released` if a majority of the masters removed the key, and `NotHeld` if fewer than a
/// majority can have had the key.
pub(super) fn judge(removals: &[Removal], quorum: usize) -> Release {
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

async fn join_all<T>(mut futures: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut outputs: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (future, output) in
            futures.iter_mut().zip(&mut outputs).filter(|(_, output)| output.is_none())
        {
            if let Poll::Ready(value) = future.as_mut().poll(context) {
                *output = Some(value);
            }
        }
        if outputs.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    outputs.into_iter().flatten().collect()
}
