//! Raft as in etcd 3.4 (`raft/raft.go`), with CheckQuorum and without PreVote. A member becomes a
//! candidate if it hears from no leader for a random time between one and two election timeouts. A
//! leader that does not hear from a majority for an election timeout steps down. A member that has
//! heard from a leader within an election timeout ignores vote requests with higher terms.

mod leading;
pub(crate) mod message;

pub(crate) use leading::Leading;
pub(crate) use message::{Body, Entry, LeaseTold, Message, Proposal};

use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct HardState {
    pub(crate) term: u64,
    pub(crate) vote: u8,
    pub(crate) commit: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum Role {
    Follower,
    Candidate { votes: BTreeMap<u8, bool> },
    Leader(Leading),
}

#[derive(Clone, Debug)]
pub(crate) struct Raft {
    pub(crate) me: u8,
    members: BTreeSet<u8>,
    pub(crate) hard: HardState,
    pub(crate) log: Vec<Entry>,
    pub(crate) first_unwritten: u64,
    pub(crate) synced: u64,
    pub(crate) role: Role,
    pub(crate) leader: u8,
    tick_ms: u64,
    election_ticks: u64,
    /// Time of the last reset of the election timer (`electionElapsed`).
    heard_ms: u64,
    election_due_ms: u64,
    random: u64,
    pub(crate) outbox: Vec<Message>,
    pub(crate) readable: Vec<(u64, u64)>,
}

pub(crate) struct Setup {
    pub(crate) me: u8,
    pub(crate) members: BTreeSet<u8>,
    pub(crate) tick_ms: u64,
    pub(crate) election_ticks: u64,
    pub(crate) seed: u64,
}

impl Raft {
    pub(crate) fn new(setup: Setup, hard: HardState, log: Vec<Entry>, now_ms: u64) -> Raft {
        let length = log.len() as u64;
        let mut raft = Raft {
            me: setup.me,
            members: setup.members,
            hard: HardState { commit: hard.commit.min(length), ..hard },
            log,
            first_unwritten: length + 1,
            synced: length,
            role: Role::Follower,
            leader: 0,
            tick_ms: setup.tick_ms,
            election_ticks: setup.election_ticks,
            heard_ms: now_ms,
            election_due_ms: 0,
            random: setup.seed,
            outbox: Vec::new(),
            readable: Vec::new(),
        };
        raft.reset_election(now_ms);
        if raft.is_alone() {
            // A single member skips most of the wait before its first election (`advanceTicks`).
            raft.election_due_ms -= (raft.election_ticks - 1) * raft.tick_ms;
        }
        raft
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.members.len() < 2
    }

    pub(crate) fn is_leader(&self) -> bool {
        matches!(self.role, Role::Leader(_))
    }

    fn quorum(&self) -> usize {
        self.members.len() / 2 + 1
    }

    pub(super) fn others(&self) -> impl Iterator<Item = u8> + use<> {
        let others: Vec<u8> = self.members.iter().copied().filter(|it| *it != self.me).collect();
        others.into_iter()
    }

    pub(crate) fn last_index(&self) -> u64 {
        self.log.len() as u64
    }

    pub(crate) fn term_at(&self, index: u64) -> Option<u64> {
        match usize::try_from(index).ok()?.checked_sub(1) {
            None => Some(0),
            Some(at) => self.log.get(at).map(|entry| entry.term),
        }
    }

    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.random;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn reset_election(&mut self, now_ms: u64) {
        let ticks = self.election_ticks + self.draw() % self.election_ticks;
        self.heard_ms = now_ms;
        self.election_due_ms = now_ms + ticks * self.tick_ms;
    }

    /// Shifts the timers by the length of a pause, during which the real server does not tick.
    pub(crate) fn shift(&mut self, by_ms: u64) {
        self.heard_ms += by_ms;
        self.election_due_ms += by_ms;
        if let Role::Leader(leading) = &mut self.role {
            leading.heartbeat_due_ms += by_ms;
            leading.quorum_due_ms += by_ms;
        }
    }

    pub(super) fn queue_message(&mut self, to: u8, body: Body) {
        let term = self.hard.term;
        self.outbox.push(Message { from: self.me, to, term, body });
    }

    pub(super) fn become_follower(&mut self, term: u64, leader: u8, now_ms: u64) {
        if term != self.hard.term {
            self.hard = HardState { term, vote: 0, ..self.hard };
        }
        self.role = Role::Follower;
        self.leader = leader;
        self.reset_election(now_ms);
    }

    pub(crate) fn wake(&mut self, now_ms: u64) {
        if let Role::Leader(_) = self.role {
            self.end_leader_tick(now_ms);
        } else if self.election_due_ms <= now_ms {
            self.campaign(now_ms);
        }
    }

    pub(crate) fn next_due(&self) -> Option<u64> {
        match &self.role {
            Role::Leader(_) if self.is_alone() => None,
            Role::Leader(leading) => Some(leading.heartbeat_due_ms.min(leading.quorum_due_ms)),
            Role::Follower | Role::Candidate { .. } => Some(self.election_due_ms),
        }
    }

    fn campaign(&mut self, now_ms: u64) {
        self.hard.term += 1;
        self.hard.vote = self.me;
        self.leader = 0;
        self.reset_election(now_ms);
        self.role = Role::Candidate { votes: BTreeMap::from([(self.me, true)]) };
        if self.is_alone() {
            return self.become_leader(now_ms);
        }
        let (index, log_term) = (self.last_index(), self.last_term());
        self.others().for_each(|to| self.queue_message(to, Body::Vote { index, log_term }));
    }

    fn last_term(&self) -> u64 {
        self.log.last().map_or(0, |entry| entry.term)
    }

    pub(crate) fn step(&mut self, message: Message, now_ms: u64) {
        if !self.members.contains(&message.from) || message.to != self.me {
            return;
        }
        let Message { from, term, body, .. } = message;
        if term > self.hard.term {
            let in_lease =
                self.leader != 0 && now_ms < self.heard_ms + self.election_ticks * self.tick_ms;
            match &body {
                Body::Vote { .. } if in_lease => return,
                Body::Append { .. } | Body::Heartbeat { .. } => {
                    self.become_follower(term, from, now_ms);
                }
                _ => self.become_follower(term, 0, now_ms),
            }
        } else if term != 0 && term < self.hard.term {
            // Reply so that the sender learns of the higher term.
            if matches!(body, Body::Append { .. } | Body::Heartbeat { .. }) {
                let index = self.last_index();
                self.queue_message(from, Body::AppendReply { index: 0, reject: true, hint: index });
            }
            return;
        }
        match body {
            Body::Vote { index, log_term } => {
                self.answer_vote_request(from, (log_term, index), now_ms)
            }
            Body::VoteReply { reject } => self.counted(from, !reject, now_ms),
            Body::Append { .. } | Body::Heartbeat { .. } => self.follow_leader(from, body, now_ms),
            _ => self.handle_as_leader(from, body),
        }
    }

    fn answer_vote_request(&mut self, from: u8, theirs: (u64, u64), now_ms: u64) {
        let can_vote = self.hard.vote == from || (self.hard.vote == 0 && self.leader == 0);
        let is_up_to_date = theirs >= (self.last_term(), self.last_index());
        let grants = can_vote && is_up_to_date;
        if grants {
            self.hard.vote = from;
            self.reset_election(now_ms);
        }
        self.queue_message(from, Body::VoteReply { reject: !grants });
    }

    fn counted(&mut self, from: u8, is_for: bool, now_ms: u64) {
        let quorum = self.quorum();
        let Role::Candidate { votes } = &mut self.role else { return };
        votes.entry(from).or_insert(is_for);
        let of = |kind: bool| votes.values().filter(|vote| **vote == kind).count();
        if of(true) >= quorum {
            self.become_leader(now_ms);
        } else if of(false) >= quorum {
            self.become_follower(self.hard.term, 0, now_ms);
        }
    }

    fn follow_leader(&mut self, from: u8, body: Body, now_ms: u64) {
        match &self.role {
            Role::Leader(_) => return,
            Role::Candidate { .. } => self.become_follower(self.hard.term, from, now_ms),
            Role::Follower => {}
        }
        self.leader = from;
        self.reset_election(now_ms);
        match body {
            Body::Heartbeat { commit, context } => {
                self.commit_to(commit);
                self.queue_message(from, Body::HeartbeatReply { context });
            }
            Body::Append { index, log_term, entries, commit } => {
                self.append_after((index, log_term), entries, commit, from);
            }
            _ => {}
        }
    }

    fn append_after(&mut self, before: (u64, u64), entries: Vec<Entry>, commit: u64, from: u8) {
        let (index, log_term) = before;
        if index < self.hard.commit {
            let commit = self.hard.commit;
            return self
                .queue_message(from, Body::AppendReply { index: commit, reject: false, hint: 0 });
        }
        if self.term_at(index) != Some(log_term) {
            let hint = self.last_index();
            return self.queue_message(from, Body::AppendReply { index, reject: true, hint });
        }
        let last = index + entries.len() as u64;
        for (place, entry) in (index + 1..).zip(entries) {
            match self.term_at(place) {
                Some(term) if term == entry.term => continue,
                Some(_) => self.truncate(place),
                None => {}
            }
            self.log.push(entry);
        }
        self.commit_to(commit.min(last));
        self.queue_message(from, Body::AppendReply { index: last, reject: false, hint: 0 });
    }

    fn truncate(&mut self, from: u64) {
        self.log.truncate(usize::try_from(from - 1).unwrap_or(usize::MAX));
        self.first_unwritten = self.first_unwritten.min(from);
        self.synced = self.synced.min(from - 1);
    }

    pub(super) fn commit_to(&mut self, index: u64) {
        self.hard.commit = self.hard.commit.max(index.min(self.last_index()));
    }

    pub(crate) fn disk_synced(&mut self, index: u64) {
        self.synced = self.synced.max(index.min(self.last_index()));
        self.count_acknowledged();
    }
}
