//! The agreed state of sessions and locks ([`State`]), without leases and events.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const COUNT_MAX: usize = 10_000;

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) epoch: u64,
    /// Maps each open session to the highest acquire number that it has released.
    pub(crate) sessions: BTreeMap<u64, u64>,
    session_last: u64,
    pub(crate) locks: BTreeMap<String, Lock>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Lock {
    /// Number of grants so far.
    pub(crate) generation: u64,
    pub(crate) hold: Hold,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) enum Hold {
    #[default]
    Free,
    By {
        session: u64,
        acquire: u64,
        delay_us: u64,
    },
    Lost {
        delay_us: u64,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Waiter {
    pub(crate) session: u64,
    pub(crate) acquire: u64,
    pub(crate) delay_us: u64,
}

impl State {
    pub(crate) fn open(&mut self) -> Option<u64> {
        if self.sessions.len() >= COUNT_MAX {
            return None;
        }
        self.session_last = self.session_last.saturating_add(1);
        self.sessions.insert(self.session_last, 0);
        Some(self.session_last)
    }

    /// Ends a session and returns the names of its locks. `left` returns a lock's new state, given
    /// its lock-delay.
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

    pub(crate) fn holder(&self, lock: &str) -> Option<(u64, u64)> {
        let lock = self.locks.get(lock)?;
        match lock.hold {
            Hold::By { session, .. } => Some((session, lock.generation)),
            Hold::Free | Hold::Lost { .. } => None,
        }
    }

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

    /// Voids the session's acquires up to `last`, and releases the lock if one of them holds it.
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

    pub(crate) fn is_void(&self, session: u64, acquire: u64) -> bool {
        self.sessions.get(&session).is_some_and(|released| acquire <= *released)
    }
}
