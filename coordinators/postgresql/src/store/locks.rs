//! Locks on tables, rows and transactions, and advisory locks, with queues and deadlock detection.
//! Source: src/backend/storage/lmgr/README. The model never reorders a queue to end a deadlock.

use super::{Backend, TableId, VersionId, Xid};
use crate::span::Span;
use crate::sql::ast::LockMode;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Tag {
    Table(TableId),
    Row(TableId, VersionId),
    Transaction(Xid),
    Advisory(i64),
    AdvisoryPair(i32, i32),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Granted,
    Waits,
}

#[derive(Clone, Debug)]
struct Grant {
    backend: Backend,
    mode: LockMode,
    for_transaction: u32,
    for_session: u32,
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    backend: Backend,
    mode: LockMode,
    span: Span,
}

#[derive(Clone, Debug, Default)]
struct Lock {
    granted: Vec<Grant>,
    queue: Vec<Waiter>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Locks {
    locks: BTreeMap<Tag, Lock>,
    waits: BTreeMap<Backend, Tag>,
    pub(crate) woken: Vec<Backend>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Link {
    pub(crate) waiter: Backend,
    pub(crate) mode: LockMode,
    pub(crate) tag: Tag,
    pub(crate) blocker: Backend,
}

impl LockMode {
    pub(crate) fn conflicts(self, other: LockMode) -> bool {
        use LockMode::{AccessExclusive, AccessShare, Exclusive, RowExclusive, RowShare, Share};
        let least = match self {
            AccessShare => return other == AccessExclusive,
            RowShare => Exclusive,
            RowExclusive => Share,
            Share => return other >= RowExclusive && other != Share,
            Exclusive => RowShare,
            AccessExclusive => AccessShare,
        };
        other >= least
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            LockMode::AccessShare => "AccessShareLock",
            LockMode::RowShare => "RowShareLock",
            LockMode::RowExclusive => "RowExclusiveLock",
            LockMode::Share => "ShareLock",
            LockMode::Exclusive => "ExclusiveLock",
            LockMode::AccessExclusive => "AccessExclusiveLock",
        }
    }
}

impl Lock {
    fn is_taken(&self, backend: Backend, mode: LockMode) -> bool {
        self.granted.iter().any(|grant| grant.backend != backend && grant.mode.conflicts(mode))
    }

    fn grant(&mut self, backend: Backend, mode: LockMode, span: Span) {
        let own = self.granted.iter().position(|own| own.backend == backend && own.mode == mode);
        let index = own.unwrap_or_else(|| {
            self.granted.push(Grant { backend, mode, for_transaction: 0, for_session: 0 });
            self.granted.len() - 1
        });
        match span {
            Span::Transaction => self.granted[index].for_transaction += 1,
            Span::Session => self.granted[index].for_session += 1,
        }
    }

    /// Returns a request's index in the queue: before the first waiter that conflicts with a lock
    /// of `backend`, or the end. `true` means that the request overtakes it and is granted.
    fn place(&self, backend: Backend, mode: LockMode) -> (usize, bool) {
        let held: Vec<LockMode> =
            self.granted.iter().filter(|own| own.backend == backend).map(|own| own.mode).collect();
        let mut ahead: Vec<LockMode> = Vec::new();
        for (index, waiter) in self.queue.iter().enumerate() {
            if held.iter().any(|own| own.conflicts(waiter.mode)) {
                let is_free = !ahead.iter().any(|other| other.conflicts(mode));
                return (index, is_free && !self.is_taken(backend, mode));
            }
            ahead.push(waiter.mode);
        }
        (self.queue.len(), false)
    }
}

impl Locks {
    /// Returns `true` if a request that must not wait gets the lock. A request that may wait can
    /// overtake a waiter that conflicts with a lock of `backend`; this request cannot.
    pub(crate) fn is_free(&self, backend: Backend, tag: Tag, mode: LockMode) -> bool {
        let Some(lock) = self.locks.get(&tag) else { return true };
        let has_it = lock.granted.iter().any(|own| own.backend == backend && own.mode == mode);
        let is_waited_for = lock.queue.iter().any(|waiter| waiter.mode.conflicts(mode));
        has_it || (!is_waited_for && !lock.is_taken(backend, mode))
    }

    pub(crate) fn acquire(
        &mut self,
        backend: Backend,
        tag: Tag,
        mode: LockMode,
        span: Span,
    ) -> Answer {
        let is_free = self.is_free(backend, tag, mode);
        let lock = self.locks.entry(tag).or_default();
        let (index, passes) = lock.place(backend, mode);
        if is_free || passes {
            lock.grant(backend, mode, span);
            return Answer::Granted;
        }
        lock.queue.insert(index, Waiter { backend, mode, span });
        self.waits.insert(backend, tag);
        Answer::Waits
    }

    pub(crate) fn has(&self, backend: Backend, tag: Tag, mode: LockMode) -> bool {
        self.locks.get(&tag).is_some_and(|lock| {
            lock.granted.iter().any(|own| own.backend == backend && own.mode == mode)
        })
    }

    pub(crate) fn holder(&self, tag: Tag, mode: LockMode) -> Option<Backend> {
        let lock = self.locks.get(&tag)?;
        lock.granted.iter().find(|own| own.mode == mode).map(|own| own.backend)
    }

    pub(crate) fn advisory(&self) -> impl Iterator<Item = (Tag, Backend)> {
        let all = Tag::Advisory(i64::MIN)..=Tag::AdvisoryPair(i32::MAX, i32::MAX);
        self.locks
            .range(all)
            .filter_map(|(tag, _)| Some((*tag, self.holder(*tag, LockMode::Exclusive)?)))
    }

    pub(crate) fn wait_of(&self, backend: Backend) -> Option<Tag> {
        self.waits.get(&backend).copied()
    }

    pub(crate) fn give_up(&mut self, backend: Backend) {
        let Some(tag) = self.waits.remove(&backend) else { return };
        if let Some(lock) = self.locks.get_mut(&tag) {
            lock.queue.retain(|waiter| waiter.backend != backend);
        }
        self.wake(tag);
    }

    pub(crate) fn release(
        &mut self,
        backend: Backend,
        tag: Tag,
        mode: LockMode,
        span: Span,
    ) -> bool {
        let Some(lock) = self.locks.get_mut(&tag) else { return false };
        let own = lock.granted.iter_mut().find(|own| own.backend == backend && own.mode == mode);
        let Some(own) = own else { return false };
        let count = match span {
            Span::Transaction => &mut own.for_transaction,
            Span::Session => &mut own.for_session,
        };
        if *count == 0 {
            return false;
        }
        *count -= 1;
        lock.granted.retain(|grant| grant.for_transaction + grant.for_session > 0);
        self.wake(tag);
        true
    }

    pub(crate) fn release_all(&mut self, backend: Backend, span: Span) {
        let tags: Vec<Tag> = self.locks.keys().copied().collect();
        for tag in tags {
            let Some(lock) = self.locks.get_mut(&tag) else { continue };
            if !lock.granted.iter().any(|own| own.backend == backend) {
                continue;
            }
            for own in lock.granted.iter_mut().filter(|own| own.backend == backend) {
                match span {
                    Span::Transaction => own.for_transaction = 0,
                    Span::Session => own.for_session = 0,
                }
            }
            lock.granted.retain(|grant| grant.for_transaction + grant.for_session > 0);
            self.wake(tag);
        }
    }

    pub(crate) fn advisory_of(&self, backend: Backend) -> Vec<(Tag, LockMode)> {
        let is_advisory = |tag: &Tag| matches!(tag, Tag::Advisory(_) | Tag::AdvisoryPair(..));
        let of = self.locks.iter().filter(|(tag, _)| is_advisory(tag));
        of.flat_map(|(tag, lock)| {
            let own = lock.granted.iter().filter(|own| own.backend == backend);
            own.map(|own| (*tag, own.mode))
        })
        .collect()
    }

    fn wake(&mut self, tag: Tag) {
        let Some(lock) = self.locks.get_mut(&tag) else { return };
        let mut ahead: Vec<LockMode> = Vec::new();
        for waiter in std::mem::take(&mut lock.queue) {
            let is_behind = ahead.iter().any(|other| other.conflicts(waiter.mode));
            if is_behind || lock.is_taken(waiter.backend, waiter.mode) {
                ahead.push(waiter.mode);
                lock.queue.push(waiter);
                continue;
            }
            // A backend that waits for the end of a transaction needs no lock, only the wake-up.
            if !matches!(tag, Tag::Transaction(_)) {
                lock.grant(waiter.backend, waiter.mode, waiter.span);
            }
            self.waits.remove(&waiter.backend);
            self.woken.push(waiter.backend);
        }
        if lock.granted.is_empty() && lock.queue.is_empty() {
            self.locks.remove(&tag);
        }
    }

    fn blockers(&self, backend: Backend) -> Vec<Link> {
        let Some(tag) = self.wait_of(backend) else { return Vec::new() };
        let Some(lock) = self.locks.get(&tag) else { return Vec::new() };
        let Some(place) = lock.queue.iter().position(|waiter| waiter.backend == backend) else {
            return Vec::new();
        };
        let mode = lock.queue[place].mode;
        let having = lock.granted.iter().map(|own| (own.backend, own.mode));
        let ahead = lock.queue[..place].iter().map(|other| (other.backend, other.mode));
        having
            .chain(ahead)
            .filter(|(other, held)| *other != backend && held.conflicts(mode))
            .map(|(blocker, _)| Link { waiter: backend, mode, tag, blocker })
            .collect()
    }

    pub(crate) fn deadlock_cycle(&self, backend: Backend) -> Option<Vec<Link>> {
        let mut seen = BTreeSet::from([backend]);
        self.path(backend, backend, &mut seen)
    }

    fn path(&self, from: Backend, to: Backend, seen: &mut BTreeSet<Backend>) -> Option<Vec<Link>> {
        for link in self.blockers(from) {
            if link.blocker == to {
                return Some(vec![link]);
            }
            if seen.insert(link.blocker)
                && let Some(mut rest) = self.path(link.blocker, to, seen)
            {
                rest.insert(0, link);
                return Some(rest);
            }
        }
        None
    }
}
