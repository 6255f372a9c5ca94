//! Decides who holds each lock, and queues the waiters ([`Grantor`]).

use fencepost_machine::{ConnectionId, KeyChange};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const COUNT_MAX: usize = 10_000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Hold {
    pub(crate) process: String,
    pub(crate) serial: u64,
    /// End of the lease on the grantor's wall clock, in milliseconds.
    pub(crate) expires_ms: Option<i64>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Call {
    pub(crate) process: String,
    pub(crate) serial: u64,
    pub(crate) wait_us: u64,
    pub(crate) lease_ms: u64,
}

#[derive(Clone, Debug)]
struct Waiter {
    call: Call,
    connection: ConnectionId,
    until: u64,
}

#[derive(Clone, Debug, Default)]
struct Lock {
    hold: Option<Hold>,
    queue: VecDeque<Waiter>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Change {
    pub(crate) lock: String,
    pub(crate) what: KeyChange,
    pub(crate) hold: Hold,
    pub(crate) by: Option<ConnectionId>,
}

#[derive(Clone, Debug)]
pub(crate) struct Grantor {
    pub(crate) version: u64,
    recovering: BTreeSet<String>,
    locks: BTreeMap<String, Lock>,
    released: BTreeMap<String, (u64, &'static str)>,
    pub(crate) answers: Vec<(ConnectionId, String)>,
    pub(crate) changes: Vec<Change>,
    now: u64,
    wall_ms: i64,
}

impl Grantor {
    /// The grantor grants no lock until each of `members` has reported its locks or departed.
    pub(crate) fn new(version: u64, members: BTreeSet<String>) -> Grantor {
        Grantor {
            version,
            recovering: members,
            locks: BTreeMap::new(),
            released: BTreeMap::new(),
            answers: Vec::new(),
            changes: Vec::new(),
            now: 0,
            wall_ms: 0,
        }
    }

    pub(crate) fn is_recovering(&self) -> bool {
        !self.recovering.is_empty()
    }

    /// Records a member's locks. If several members report a lock, the first one keeps it.
    pub(crate) fn recover(&mut self, process: &str, held: Vec<(String, Hold)>) {
        if !self.recovering.remove(process) {
            return;
        }
        for (name, hold) in held {
            let lock = self.locks.entry(name.clone()).or_default();
            if lock.hold.is_none() {
                lock.hold = Some(hold.clone());
                let what = KeyChange::Restored;
                self.changes.push(Change { lock: name, what, hold, by: None });
            }
        }
    }

    pub(crate) fn advance(&mut self, members: &BTreeSet<String>, now: u64, wall_ms: i64) {
        (self.now, self.wall_ms) = (now, wall_ms);
        self.recovering.retain(|process| members.contains(process));
        self.released.retain(|process, _| members.contains(process));
        let names: Vec<String> = self.locks.keys().cloned().collect();
        for name in names {
            self.pass_lock(&name, members);
        }
        self.locks.retain(|_, lock| lock.hold.is_some() || !lock.queue.is_empty());
    }

    fn pass_lock(&mut self, name: &str, members: &BTreeSet<String>) {
        let Some(lock) = self.locks.get_mut(name) else { return };
        let (now, wall_ms) = (self.now, self.wall_ms);
        for waiter in lock.queue.iter().filter(|waiter| waiter.until <= now) {
            self.answers.push((waiter.connection, "timeout".to_owned()));
        }
        lock.queue.retain(|one| now < one.until && members.contains(&one.call.process));
        let is_over = |hold: &mut Hold| {
            !members.contains(&hold.process) || hold.expires_ms.is_some_and(|end| end <= wall_ms)
        };
        if let Some(hold) = lock.hold.take_if(is_over) {
            let (lock, what) = (name.to_owned(), KeyChange::Expired);
            self.changes.push(Change { lock, what, hold, by: None });
        }
        self.grant_next(name);
    }

    fn grant_next(&mut self, name: &str) {
        if self.is_recovering() {
            return;
        }
        let Some(lock) = self.locks.get_mut(name).filter(|lock| lock.hold.is_none()) else {
            return;
        };
        let Some(Waiter { call, connection, .. }) = lock.queue.pop_front() else { return };
        let lease_ms = i64::try_from(call.lease_ms).ok().filter(|lease_ms| *lease_ms > 0);
        let expires_ms = lease_ms.map(|lease_ms| self.wall_ms.saturating_add(lease_ms));
        let hold = Hold { process: call.process, serial: call.serial, expires_ms };
        lock.hold = Some(hold.clone());
        self.answers.push((connection, granted(&hold)));
        let (lock, what) = (name.to_owned(), KeyChange::Granted);
        self.changes.push(Change { lock, what, hold, by: Some(connection) });
    }

    pub(crate) fn lock(&mut self, name: String, call: Call, connection: ConnectionId) {
        let released = self.released.get(&call.process);
        if released.is_some_and(|(last, _)| call.serial <= *last) {
            return self.answers.push((connection, "released".to_owned()));
        }
        if self.locks.len() >= COUNT_MAX && !self.locks.contains_key(&name) {
            return self.answers.push((connection, "full".to_owned()));
        }
        let lock = self.locks.entry(name.clone()).or_default();
        let is_same = |hold: &&Hold| (&hold.process, hold.serial) == (&call.process, call.serial);
        if let Some(hold) = lock.hold.as_ref().filter(is_same) {
            return self.answers.push((connection, granted(hold)));
        }
        lock.queue.retain(|one| one.call.process != call.process || one.call.serial != call.serial);
        if lock.queue.len() >= COUNT_MAX {
            return self.answers.push((connection, "full".to_owned()));
        }
        let until = self.now.saturating_add(call.wait_us);
        let is_free = lock.hold.is_none() && lock.queue.is_empty();
        if until <= self.now && !is_free {
            return self.answers.push((connection, "timeout".to_owned()));
        }
        lock.queue.push_back(Waiter { call, connection, until });
        self.grant_next(&name);
    }

    pub(crate) fn unlock(
        &mut self,
        name: &str,
        process: String,
        serial: u64,
        connection: ConnectionId,
    ) {
        let last = self.released.get(&process).copied();
        if let Some((last, answer)) = last.filter(|(last, _)| serial <= *last) {
            let answer = if serial == last { answer } else { "not-held" };
            return self.answers.push((connection, answer.to_owned()));
        }
        let mut answer = "not-held";
        if let Some(lock) = self.locks.get_mut(name) {
            lock.queue.retain(|one| one.call.process != process || one.call.serial > serial);
            let is_it = |hold: &mut Hold| hold.process == process && hold.serial <= serial;
            if let Some(hold) = lock.hold.take_if(is_it) {
                answer = "unlocked";
                let (lock, by) = (name.to_owned(), Some(connection));
                self.changes.push(Change { lock, what: KeyChange::Removed, hold, by });
            }
        }
        self.released.insert(process, (serial, answer));
        self.answers.push((connection, answer.to_owned()));
        self.grant_next(name);
    }

    pub(crate) fn closed(&mut self, connection: ConnectionId) {
        for lock in self.locks.values_mut() {
            lock.queue.retain(|waiter| waiter.connection != connection);
        }
    }

    pub(crate) fn holds(&self) -> impl Iterator<Item = (&String, &Hold)> {
        self.locks.iter().filter_map(|(name, lock)| Some((name, lock.hold.as_ref()?)))
    }

    pub(crate) fn due_in(&self) -> Option<u64> {
        let leases = self.holds().filter_map(|(_, hold)| hold.expires_ms);
        let lease_ms = leases.min().map(|end| end.saturating_sub(self.wall_ms).max(1));
        let lease = lease_ms.and_then(|ms| u64::try_from(ms).ok()?.checked_mul(1_000));
        let waits = self.locks.values().flat_map(|lock| &lock.queue).map(|waiter| waiter.until);
        let wait = waits.min().map(|until| until.saturating_sub(self.now));
        lease.into_iter().chain(wait).min()
    }

    pub(crate) fn will_grant(&self) -> bool {
        self.locks.values().any(|lock| !lock.queue.is_empty() && lock.hold.is_some())
    }
}

fn granted(hold: &Hold) -> String {
    format!("granted {}", hold.expires_ms.unwrap_or_default())
}
