//! User locks ([`UserLocks`]): reentrant, and granted in order of arrival.

use std::collections::{BTreeMap, VecDeque};

pub(crate) type SessionId = u32;

#[derive(Debug, Default)]
pub(crate) struct UserLocks {
    held: BTreeMap<Vec<u8>, Holder>,
    queues: BTreeMap<Vec<u8>, VecDeque<SessionId>>,
    waiting: BTreeMap<SessionId, Vec<u8>>,
    refused: BTreeMap<SessionId, u64>,
    pub(crate) woken: VecDeque<SessionId>,
    pub(crate) victims: VecDeque<SessionId>,
}

#[derive(Clone, Copy, Debug)]
struct Holder {
    by: SessionId,
    times: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Release {
    Done,
    NotOwner,
    NotHeld,
}

impl UserLocks {
    pub(crate) fn take(&mut self, session: SessionId, name: &[u8]) -> bool {
        match self.held.get_mut(name) {
            Some(held) if held.by == session => held.times += 1,
            Some(_) => return false,
            None => self.add_lock(session, name.to_vec()),
        }
        true
    }

    fn add_lock(&mut self, session: SessionId, name: Vec<u8>) {
        self.held.insert(name, Holder { by: session, times: 1 });
    }

    /// Queues `session`. Returns `false` if this causes a deadlock and the victim is `session`.
    pub(crate) fn wait(&mut self, session: SessionId, name: &[u8]) -> bool {
        let circle = self.deadlock_cycle(session, name);
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

    fn deadlock_cycle(&self, session: SessionId, name: &[u8]) -> Vec<SessionId> {
        let (mut wanted, mut circle) = (name, vec![session]);
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

    /// Returns the session with the fewest refusals; in a tie, the first one in the cycle.
    fn victim(&self, circle: &[SessionId]) -> SessionId {
        let times = |session: &SessionId| self.refused.get(session).copied().unwrap_or(0);
        circle.iter().copied().min_by_key(times).unwrap_or(0)
    }

    pub(crate) fn forget(&mut self, session: SessionId) {
        self.give_up(session);
        self.release_all(session);
        self.refused.remove(&session);
    }

    pub(crate) fn give_up(&mut self, session: SessionId) {
        let Some(name) = self.waiting.remove(&session) else { return };
        if let Some(queue) = self.queues.get_mut(&name) {
            queue.retain(|other| *other != session);
            if queue.is_empty() {
                self.queues.remove(&name);
            }
        }
    }

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

    pub(crate) fn release_all(&mut self, session: SessionId) -> u64 {
        let own = self.held.iter().filter(|(_, held)| held.by == session);
        let own: Vec<(Vec<u8>, u64)> = own.map(|(name, held)| (name.clone(), held.times)).collect();
        for (name, _) in &own {
            self.free(name);
        }
        own.iter().map(|(_, times)| times).sum()
    }

    fn free(&mut self, name: &[u8]) {
        self.held.remove(name);
        let Some(queue) = self.queues.get_mut(name) else { return };
        let next = queue.pop_front();
        if queue.is_empty() {
            self.queues.remove(name);
        }
        if let Some(next) = next {
            self.waiting.remove(&next);
            self.add_lock(next, name.to_vec());
            self.woken.push_back(next);
        }
    }

    pub(crate) fn all(&self, prefix: &str) -> impl Iterator<Item = (String, SessionId)> {
        let named = self.held.iter().filter(move |(name, _)| name.starts_with(prefix.as_bytes()));
        named.map(|(name, held)| (String::from_utf8_lossy(name).into_owned(), held.by))
    }

    pub(crate) fn holder(&self, name: &[u8]) -> Option<SessionId> {
        self.held.get(name).map(|held| held.by)
    }
}
