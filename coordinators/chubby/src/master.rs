//! Serves clients and maintains their sessions ([`Master`]).

mod session;

use crate::config::Config;
use crate::event::Event;
use crate::request::{Caller, Request};
use crate::state::{Hold, State, Waiter};
use crate::times::lengthened;
use fencepost_machine::ConnectionId;
use session::Session;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum FollowUp {
    Answer(ConnectionId, String),
    Granted { session: u64, lock: String },
}

#[derive(Clone, Debug)]
pub(crate) struct Master {
    lease_us: u64,
    answers_before_us: u64,
    now: u64,
    sessions: BTreeMap<u64, Session>,
    waiters: BTreeMap<String, VecDeque<Waiter>>,
    free_at: BTreeMap<String, u64>,
    pub(crate) then: Vec<FollowUp>,
    pub(crate) answers: Vec<(ConnectionId, String)>,
    pub(crate) is_changed: bool,
}

impl Master {
    pub(crate) fn new(config: &Config, state: &State, now: u64) -> Master {
        let lease_us = config.session_lease_us;
        let lease_until = now.saturating_add(lengthened(lease_us));
        let of = |session: &u64| (*session, Session::taken_over(lease_until));
        let mut free_at = BTreeMap::new();
        for (name, lock) in &state.locks {
            if let Hold::Lost { delay_us } = lock.hold {
                free_at.insert(name.clone(), now.saturating_add(delay_us));
            }
        }
        Master {
            lease_us,
            answers_before_us: config.answers_before_us(),
            now,
            sessions: state.sessions.keys().map(of).collect(),
            waiters: BTreeMap::new(),
            free_at,
            then: Vec::new(),
            answers: Vec::new(),
            is_changed: false,
        }
    }

    fn is_taking_over(&self) -> bool {
        self.sessions.values().any(|session| !session.knows_master)
    }

    pub(crate) fn serve(&mut self, request: Request, from: ConnectionId, state: &mut State) {
        let answer = match request {
            Request::Master => "master here".to_owned(),
            Request::Open => self.open(state),
            Request::KeepAlive(caller, events) => {
                if state.sessions.contains_key(&caller.session) {
                    return self.keep_alive(caller, (from, events), state.epoch);
                }
                "expired".to_owned()
            }
            Request::Acquire { caller, lock, acquire, delay_us } => {
                let waiter = Waiter { session: caller.session, acquire, delay_us };
                match self.refusal(caller, state) {
                    Some(refusal) => refusal,
                    None => self.acquire(lock, waiter, state),
                }
            }
            Request::Release { caller, lock, acquire } => match self.refusal(caller, state) {
                Some(refusal) => refusal,
                None => self.release(&lock, (caller.session, acquire), state),
            },
            Request::CheckSequencer { caller, lock, generation } => {
                let is_valid = || state.holder(&lock).is_some_and(|(_, now)| now == generation);
                match self.refusal(caller, state) {
                    Some(refusal) => refusal,
                    None if is_valid() => "valid".to_owned(),
                    None => "invalid".to_owned(),
                }
            }
            Request::Close(caller) => match self.refusal(caller, state) {
                Some(refusal) => refusal,
                None => self.close(caller.session, state),
            },
        };
        self.then.push(FollowUp::Answer(from, answer));
    }

    fn refusal(&self, caller: Caller, state: &State) -> Option<String> {
        if !state.sessions.contains_key(&caller.session) {
            Some("expired".to_owned())
        } else if caller.epoch != state.epoch {
            Some(format!("epoch {}", state.epoch))
        } else {
            self.is_taking_over().then(|| "busy".to_owned())
        }
    }

    fn open(&mut self, state: &mut State) -> String {
        if self.is_taking_over() {
            return "busy".to_owned();
        }
        let Some(session) = state.open() else { return "full".to_owned() };
        self.is_changed = true;
        self.sessions.insert(session, Session::new(self.now.saturating_add(self.lease_us)));
        format!("session {session} {} {}", state.epoch, self.lease_us)
    }

    fn keep_alive(&mut self, caller: Caller, call: (ConnectionId, u64), epoch: u64) {
        self.answer(caller.session, epoch);
        let Some(session) = self.sessions.get_mut(&caller.session) else { return };
        session.blocked = Some((call.0, self.now));
        session.knows_master = caller.epoch == epoch;
        if session.knows_master {
            session.events.acknowledge(call.1);
        }
        if !session.knows_master || !session.events.is_empty() {
            self.answer(caller.session, epoch);
        }
    }

    fn answer(&mut self, session: u64, epoch: u64) {
        let (now, lease_us) = (self.now, self.lease_us);
        let Some(session) = self.sessions.get_mut(&session) else { return };
        let Some((connection, since)) = session.blocked.take() else { return };
        session.lease_until = session.lease_until.max(now.saturating_add(lease_us));
        let (held, events) = (now.saturating_sub(since), session.events.words());
        self.answers.push((connection, format!("alive {epoch} {held} {lease_us} {events}")));
    }

    fn acquire(&mut self, lock: String, waiter: Waiter, state: &mut State) -> String {
        let holder = state.holder(&lock);
        if let Some((_, generation)) = holder.filter(|(by, _)| *by == waiter.session) {
            return format!("acquired {generation}");
        }
        if state.is_void(waiter.session, waiter.acquire) {
            return "released".to_owned();
        }
        let queue = self.waiters.entry(lock.clone()).or_default();
        if !queue.iter().any(|one| one.session == waiter.session) {
            queue.push_back(waiter);
        }
        let is_first = queue.front().is_some_and(|first| first.session == waiter.session);
        if holder.is_some() || !is_first || self.free_at.contains_key(&lock) {
            return "waiting".to_owned();
        }
        queue.pop_front();
        match state.grant(&lock, waiter) {
            Some(generation) => {
                self.is_changed = true;
                format!("acquired {generation}")
            }
            None => "full".to_owned(),
        }
    }

    fn release(&mut self, lock: &str, (session, last): (u64, u64), state: &mut State) -> String {
        if let Some(queue) = self.waiters.get_mut(lock) {
            queue.retain(|waiter| waiter.session != session || waiter.acquire > last);
        }
        self.is_changed = true;
        state.release(lock, session, last);
        self.grant_next(lock, state);
        "released".to_owned()
    }

    fn close(&mut self, session: u64, state: &mut State) -> String {
        self.end(session, state, |_| Hold::Free);
        "closed".to_owned()
    }

    fn end(&mut self, session: u64, state: &mut State, left: fn(u64) -> Hold) {
        self.is_changed = true;
        self.sessions.remove(&session);
        for queue in self.waiters.values_mut() {
            queue.retain(|waiter| waiter.session != session);
        }
        for lock in state.end(session, left) {
            if let Some(Hold::Lost { delay_us: delay @ 1.. }) =
                state.locks.get(&lock).map(|lock| &lock.hold)
            {
                self.free_at.insert(lock.clone(), self.now.saturating_add(*delay));
            }
            self.grant_next(&lock, state);
        }
    }

    fn grant_next(&mut self, lock: &str, state: &mut State) {
        if state.holder(lock).is_some() || self.free_at.contains_key(lock) {
            return;
        }
        let Some(queue) = self.waiters.get_mut(lock) else { return };
        let Some(waiter) = queue.pop_front() else { return };
        if state.grant(lock, waiter).is_some() {
            self.is_changed = true;
            self.then.push(FollowUp::Granted { session: waiter.session, lock: lock.to_owned() });
        }
    }

    pub(crate) fn advance(&mut self, state: &mut State, now: u64) {
        self.now = now;
        let is_over = |session: &Session| session.lease_until <= now;
        for id in self.sessions_where(is_over) {
            self.end(id, state, |delay_us| Hold::Lost { delay_us });
        }
        let before = self.answers_before_us;
        for id in self.sessions_where(|session| session.answer_at(before) <= now) {
            self.answer(id, state.epoch);
        }
        let is_due = |(_, at): &(&String, &u64)| **at <= now;
        let free: Vec<String> =
            self.free_at.iter().filter(is_due).map(|(lock, _)| lock.clone()).collect();
        for lock in free {
            self.free_at.remove(&lock);
            self.grant_next(&lock, state);
        }
    }

    fn sessions_where(&self, is_one: impl Fn(&Session) -> bool) -> Vec<u64> {
        self.sessions.iter().filter(|(_, session)| is_one(session)).map(|(id, _)| *id).collect()
    }

    pub(crate) fn granted(&mut self, session: u64, lock: String, epoch: u64) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.events.push(Event::Acquired { lock });
        }
        self.answer(session, epoch);
    }

    pub(crate) fn closed(&mut self, connection: ConnectionId) {
        for session in self.sessions.values_mut() {
            if session.blocked.is_some_and(|(on, _)| on == connection) {
                session.blocked = None;
            }
        }
    }

    pub(crate) fn due(&self) -> Option<u64> {
        let before = self.answers_before_us;
        let of = |session: &Session| session.lease_until.min(session.answer_at(before));
        let sessions = self.sessions.values().map(of);
        sessions.chain(self.free_at.values().copied()).min()
    }

    pub(crate) fn will_grant(&self, state: &State) -> bool {
        let silent: BTreeSet<u64> =
            self.sessions_where(|session| session.blocked.is_none()).into_iter().collect();
        self.waiters.iter().any(|(lock, queue)| {
            let is_held_in_silence =
                || state.holder(lock).is_some_and(|(by, _)| silent.contains(&by));
            !queue.is_empty() && (self.free_at.contains_key(lock) || is_held_in_silence())
        })
    }
}
