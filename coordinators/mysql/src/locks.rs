//! User locks: who has one and how often, and who waits for it in which order.
//!
//! As MariaDB's metadata locks treat them: a session may have any number of locks and take one of
//! its own again, whoever waits longest gets a lock that is given back, and of those who would wait
//! for each other one is refused at once.

use std::collections::{BTreeMap, VecDeque};

/// The number of a session, which `CONNECTION_ID()` tells.
pub(crate) type SessionId = u32;

/// The locks of a server.
#[derive(Debug, Default)]
pub(crate) struct UserLocks {
    held: BTreeMap<Vec<u8>, Holder>,
    queues: BTreeMap<Vec<u8>, VecDeque<SessionId>>,
    waiting: BTreeMap<SessionId, Vec<u8>>,
    /// How often each session was refused because of a deadlock.
    refused: BTreeMap<SessionId, u64>,
    /// Who got what it waited for, and has not been told yet.
    pub(crate) woken: VecDeque<SessionId>,
    /// Who is refused because others would wait for each other, and has not been told yet.
    pub(crate) victims: VecDeque<SessionId>,
}

#[derive(Clone, Copy, Debug)]
struct Holder {
    by: SessionId,
    times: u64,
}

/// What came of an attempt to give a lock back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Release {
    Done,
    /// Somebody else has it.
    NotOwner,
    /// Nobody has it.
    NotHeld,
}

impl UserLocks {
    /// Takes a lock that is free or the session's own; whether it could.
    pub(crate) fn take(&mut self, session: SessionId, name: &[u8]) -> bool {
        match self.held.get_mut(name) {
            Some(held) if held.by == session => held.times += 1,
            Some(_) => return false,
            None => self.give(session, name.to_vec()),
        }
        true
    }

    fn give(&mut self, session: SessionId, name: Vec<u8>) {
        self.held.insert(name, Holder { by: session, times: 1 });
    }

    /// Puts a session into the queue of a lock that another has. If all of them would wait for each
    /// other then, one of them is refused: `false` if it is this one.
    pub(crate) fn wait(&mut self, session: SessionId, name: &[u8]) -> bool {
        let circle = self.circle(session, name);
        if !circle.is_empty() {
            let victim = self.victim(&circle);
            *self.refused.entry(victim).or_default() += 1;
            if victim == session {
                return false;
            }
            self.give_up(victim);
            self.victims.push_back(victim);
        }
        self.queues.entry(name.to_vec()).or_default().push_back(session);
        self.waiting.insert(session, name.to_vec());
        true
    }

    /// The sessions that would wait for each other, from the one that is about to on; none if that
    /// is no circle.
    fn circle(&self, session: SessionId, name: &[u8]) -> Vec<SessionId> {
        let (mut wanted, mut circle) = (name, vec![session]);
        // Each step goes to another session that waits, so that there are no more than these.
        while circle.len() <= self.waiting.len() + 1 {
            let Some(holder) = self.holder(wanted) else { break };
            if holder == session {
                return circle;
            }
            let Some(next) = self.waiting.get(&holder) else { break };
            circle.push(holder);
            wanted = next;
        }
        Vec::new()
    }

    /// Who is refused: whoever was refused least often, and of those the nearest to the one that
    /// has found the circle.
    fn victim(&self, circle: &[SessionId]) -> SessionId {
        let times = |session: &SessionId| self.refused.get(session).copied().unwrap_or(0);
        circle.iter().copied().min_by_key(times).unwrap_or(0)
    }

    /// Forgets a session that is over.
    pub(crate) fn forget(&mut self, session: SessionId) {
        self.give_up(session);
        self.release_all(session);
        self.refused.remove(&session);
    }

    /// Takes a session out of the queue in which it stands.
    pub(crate) fn give_up(&mut self, session: SessionId) {
        let Some(name) = self.waiting.remove(&session) else { return };
        if let Some(queue) = self.queues.get_mut(&name) {
            queue.retain(|other| *other != session);
            if queue.is_empty() {
                self.queues.remove(&name);
            }
        }
    }

    /// Gives a lock back once.
    pub(crate) fn release(&mut self, session: SessionId, name: &[u8]) -> Release {
        match self.held.get_mut(name) {
            None => Release::NotHeld,
            Some(held) if held.by != session => Release::NotOwner,
            Some(held) if held.times > 1 => {
                held.times -= 1;
                Release::Done
            }
            Some(_) => {
                self.free(name);
                Release::Done
            }
        }
    }

    /// Gives all locks of a session back; how many times it had taken one.
    pub(crate) fn release_all(&mut self, session: SessionId) -> u64 {
        let own = self.held.iter().filter(|(_, held)| held.by == session);
        let own: Vec<(Vec<u8>, u64)> = own.map(|(name, held)| (name.clone(), held.times)).collect();
        for (name, _) in &own {
            self.free(name);
        }
        own.iter().map(|(_, times)| times).sum()
    }

    /// A lock that nobody has any more goes to whoever waits longest.
    fn free(&mut self, name: &[u8]) {
        self.held.remove(name);
        let Some(queue) = self.queues.get_mut(name) else { return };
        let next = queue.pop_front();
        if queue.is_empty() {
            self.queues.remove(name);
        }
        if let Some(next) = next {
            self.waiting.remove(&next);
            self.give(next, name.to_vec());
            self.woken.push_back(next);
        }
    }

    pub(crate) fn holder(&self, name: &[u8]) -> Option<SessionId> {
        self.held.get(name).map(|held| held.by)
    }
}
