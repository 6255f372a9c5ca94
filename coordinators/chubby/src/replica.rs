//! The replicas' agreement ([`Replica`]): Paxos on a single value, the whole state. A replica that
//! hears from no master asks the others for promises, with a higher ballot than any it knows. With
//! promises from a majority it becomes the master, and starts from the latest state that a replica
//! of this majority has accepted. A replica that accepts a state grants the master a lease, which
//! each of the two measures on its own clock.

mod leading;

use crate::message::{Accepted, Message};
use crate::times::{ELECTION_US, MASTER_LEASE_US, lengthened};
use leading::Leading;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A ballot modulo this constant is the number of the replica that chose the ballot.
const REPLICAS_MAX: u64 = 64;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Saved {
    promised: u64,
    pub(crate) accepted: Accepted,
}

#[derive(Clone, Debug)]
struct Candidacy {
    ballot: u64,
    promises: BTreeSet<u8>,
    best: Accepted,
}

#[derive(Clone, Debug)]
pub(crate) struct Replica {
    me: u8,
    others: Vec<u8>,
    pub(crate) saved: Saved,
    seen: u64,
    loyal_until: u64,
    pub(crate) leader: Option<u8>,
    try_at: u64,
    jitter: u64,
    candidacy: Option<Candidacy>,
    leading: Option<Leading>,
    /// Ballot and index of the latest state that was loaded at startup or is known to be committed.
    pub(crate) learned: (u64, u64),
    pub(crate) outbox: Vec<(u8, Message)>,
    pub(crate) is_unsaved: bool,
}

impl Replica {
    /// After a restart, the replica elects no master until its earlier promises have expired.
    pub(crate) fn new(me: u8, others: Vec<u8>, saved: Saved, (now, seed): (u64, u64)) -> Replica {
        let may_be_loyal = saved.promised > 0 && !others.is_empty();
        let loyal_until = if may_be_loyal { now + lengthened(MASTER_LEASE_US) } else { now };
        let learned = saved.accepted.place();
        let mut replica = Replica {
            me,
            others,
            seen: saved.promised,
            saved,
            loyal_until,
            leader: None,
            try_at: 0,
            jitter: seed | 1,
            candidacy: None,
            leading: None,
            learned,
            outbox: Vec::new(),
            is_unsaved: false,
        };
        let wait = if replica.others.is_empty() { 0 } else { replica.draw(ELECTION_US) };
        replica.try_at = loyal_until + wait;
        replica
    }

    fn draw(&mut self, end: u64) -> u64 {
        self.jitter ^= self.jitter << 13;
        self.jitter ^= self.jitter >> 7;
        self.jitter ^= self.jitter << 17;
        self.jitter % end
    }

    fn count(&self) -> usize {
        self.others.len() + 1
    }

    fn majority(&self) -> usize {
        self.count() / 2 + 1
    }

    pub(crate) fn is_serving(&self) -> bool {
        self.leading.as_ref().is_some_and(|leading| leading.committed > 0)
    }

    pub(crate) fn is_committed(&self, index: u64) -> bool {
        self.leading.as_ref().is_some_and(|leading| leading.committed >= index)
    }

    pub(crate) fn due(&self) -> u64 {
        self.leading.as_ref().map_or(self.try_at, Leading::due)
    }

    pub(crate) fn advance(&mut self, now: u64) {
        if let Some(leading) = &self.leading {
            if now >= leading.lease_until {
                self.step_down(now);
            } else if now >= leading.renew_at {
                self.propose_again(now);
            }
        } else if now >= self.try_at {
            self.seek_mastership(now);
        }
    }

    fn step_down(&mut self, now: u64) {
        (self.leading, self.candidacy, self.leader) = (None, None, None);
        self.try_at = now + ELECTION_US + self.draw(ELECTION_US);
    }

    fn seek_mastership(&mut self, now: u64) {
        self.leader = None;
        let least = self.seen.max(self.saved.promised);
        let ballot = (least / REPLICAS_MAX + 1).saturating_mul(REPLICAS_MAX);
        let ballot = ballot.saturating_add(u64::from(self.me));
        let best = self.saved.accepted.clone();
        self.candidacy = Some(Candidacy { ballot, promises: BTreeSet::new(), best });
        self.try_at = now + ELECTION_US + self.draw(2 * ELECTION_US);
        self.broadcast(&Message::Prepare { ballot });
        self.count_promises(now);
    }

    fn broadcast(&mut self, message: &Message) {
        self.outbox.extend(self.others.iter().map(|to| (*to, message.clone())));
    }

    fn count_promises(&mut self, now: u64) {
        let majority = self.majority();
        // The candidate counts itself, but saves its promise only once it is elected. Otherwise its
        // ballot would keep rising while it is isolated.
        let is_elected = |candidacy: &Candidacy| candidacy.promises.len() + 1 >= majority;
        if !self.candidacy.as_ref().is_some_and(is_elected) {
            return;
        }
        let Some(Candidacy { ballot, mut best, .. }) = self.candidacy.take() else { return };
        if ballot <= self.saved.promised {
            return;
        }
        if self.saved.accepted.place() > best.place() {
            best = self.saved.accepted.clone();
        }
        let mut state = best.state;
        state.epoch = state.epoch.saturating_add(1);
        self.saved = Saved { promised: ballot, accepted: Accepted { ballot, index: 0, state } };
        self.leader = Some(self.me);
        self.leading = Some(Leading::new(now));
        self.propose(now);
    }

    pub(crate) fn handle_message(&mut self, from: u8, message: Message, now: u64) {
        match message {
            Message::Prepare { ballot } => self.prepare(from, ballot, now),
            Message::Promise { ballot, accepted } => {
                let candidacy =
                    self.candidacy.as_mut().filter(|candidacy| candidacy.ballot == ballot);
                if let Some(candidacy) = candidacy {
                    candidacy.promises.insert(from);
                    if accepted.place() > candidacy.best.place() {
                        candidacy.best = accepted;
                    }
                    self.count_promises(now);
                }
            }
            Message::Refuse { promised } => {
                self.seen = self.seen.max(promised);
                let is_beaten = self.leading.is_some() && promised > self.saved.promised;
                if is_beaten {
                    self.step_down(now);
                }
            }
            Message::Accept { round, committed, accepted } => {
                self.accept(from, (round, committed), accepted, now);
            }
            Message::Ack { ballot, index, round } if ballot == self.saved.accepted.ballot => {
                self.acknowledged(from, (index, round));
            }
            Message::Commit { ballot, index } => self.learn((ballot, index)),
            Message::Ack { .. } => {}
        }
    }

    fn prepare(&mut self, from: u8, ballot: u64, now: u64) {
        let is_loyal = now < self.loyal_until && self.leader != Some(from);
        let promised = self.saved.promised;
        if is_loyal || ballot <= promised {
            return self.outbox.push((from, Message::Refuse { promised }));
        }
        self.saved.promised = ballot;
        self.is_unsaved = true;
        self.seen = self.seen.max(ballot);
        self.step_down(now);
        let accepted = self.saved.accepted.clone();
        self.outbox.push((from, Message::Promise { ballot, accepted }));
    }

    fn accept(&mut self, from: u8, (round, committed): (u64, u64), accepted: Accepted, now: u64) {
        let (ballot, promised) = (accepted.ballot, self.saved.promised);
        if ballot < promised || (ballot == promised && self.leading.is_some()) {
            return self.outbox.push((from, Message::Refuse { promised }));
        }
        (self.leading, self.candidacy) = (None, None);
        self.leader = Some(from);
        self.seen = self.seen.max(ballot);
        self.loyal_until = now + MASTER_LEASE_US;
        self.try_at = self.loyal_until + self.draw(2 * ELECTION_US);
        if accepted.place() > self.saved.accepted.place() || ballot > promised {
            self.is_unsaved = true;
            self.saved = Saved { promised: ballot, accepted };
        }
        let index = self.saved.accepted.index;
        self.outbox.push((from, Message::Ack { ballot, index, round }));
        self.learn((ballot, committed));
    }

    fn learn(&mut self, place: (u64, u64)) {
        if place == self.saved.accepted.place() && self.leading.is_none() {
            self.learned = self.learned.max(place);
        }
    }
}
