//! What the replicas agree on: sessions and locks.
//!
//! Leases of sessions and events are not part of it: the master keeps them in memory, and a new one
//! is careful instead (2.9).

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A cell refuses more sessions, and more locks.
const COUNT_MAX: usize = 10_000;

/// The database of a cell.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// The number of the master: a new one with each.
    pub(crate) epoch: u64,
    /// The sessions that have not ended, each with the last of its acquires that it has given back
    /// or given up.
    pub(crate) sessions: BTreeMap<u64, u64>,
    /// How many sessions there were.
    session_last: u64,
    /// Every lock that was ever held.
    pub(crate) locks: BTreeMap<String, Lock>,
}

/// A node that serves as a lock.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Lock {
    /// How many times it went from free to held: the number of its sequencer.
    pub(crate) generation: u64,
    pub(crate) hold: Hold,
}

/// Who holds a lock.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) enum Hold {
    /// Nobody: it was released, or never held.
    #[default]
    Free,
    /// A session, since its acquire of this number.
    By { session: u64, acquire: u64, delay_us: u64 },
    /// Nobody, because the session of its holder ended; and nobody gets it for so long.
    Lost { delay_us: u64 },
}

/// A session that wants a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Waiter {
    pub(crate) session: u64,
    /// The number of its acquire, by which one that was delayed is told from a later one.
    pub(crate) acquire: u64,
    pub(crate) delay_us: u64,
}

impl State {
    /// Begins a session; `None` if there are too many.
    pub(crate) fn open(&mut self) -> Option<u64> {
        if self.sessions.len() >= COUNT_MAX {
            return None;
        }
        self.session_last = self.session_last.saturating_add(1);
        self.sessions.insert(self.session_last, 0);
        Some(self.session_last)
    }

    /// Ends a session. What becomes of each lock that it held is what `left` says. Returns their
    /// names.
    pub(crate) fn end(&mut self, session: u64, left: fn(delay_us: u64) -> Hold) -> Vec<String> {
        self.sessions.remove(&session);
        let mut freed = Vec::new();
        for (name, lock) in &mut self.locks {
            if let Hold::By { session: by, delay_us, .. } = lock.hold
                && by == session
            {
                lock.hold = left(delay_us);
                freed.push(name.clone());
            }
        }
        freed
    }

    /// The session that holds a lock, and the generation.
    pub(crate) fn holder(&self, lock: &str) -> Option<(u64, u64)> {
        let lock = self.locks.get(lock)?;
        match lock.hold {
            Hold::By { session, .. } => Some((session, lock.generation)),
            Hold::Free | Hold::Lost { .. } => None,
        }
    }

    /// Gives a lock that nobody holds to a session, and returns its new generation; `None` if there
    /// are too many locks.
    pub(crate) fn grant(&mut self, lock: &str, waiter: Waiter) -> Option<u64> {
        if self.locks.len() >= COUNT_MAX && !self.locks.contains_key(lock) {
            return None;
        }
        let lock = self.locks.entry(lock.to_owned()).or_default();
        lock.generation = lock.generation.saturating_add(1);
        let Waiter { session, acquire, delay_us } = waiter;
        lock.hold = Hold::By { session, acquire, delay_us };
        Some(lock.generation)
    }

    /// Gives up an acquire of a session, and those before it: frees the lock if it is held by one
    /// of them. One that arrives later is void.
    pub(crate) fn release(&mut self, lock: &str, session: u64, last: u64) {
        if let Some(released) = self.sessions.get_mut(&session) {
            *released = last.max(*released);
        }
        if let Some(lock) = self.locks.get_mut(lock)
            && let Hold::By { session: by, acquire, .. } = lock.hold
            && by == session
            && acquire <= last
        {
            lock.hold = Hold::Free;
        }
    }

    /// Whether an acquire of a session was given up before it arrived.
    pub(crate) fn is_void(&self, session: u64, acquire: u64) -> bool {
        self.sessions.get(&session).is_some_and(|released| acquire <= *released)
    }
}
