use super::{Body, Entry, Message, Proposal, Raft, Role};
use crate::state::Command;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const ENTRIES_MAX: usize = 512;

#[derive(Clone, Debug)]
pub(crate) struct Leading {
    progress: BTreeMap<u8, Progress>,
    reads: VecDeque<Read>,
    next_context: u64,
    /// Index of the leader's first entry. The leader serves no reads until this entry is committed.
    begins_at: u64,
    pub(super) heartbeat_due_ms: u64,
    pub(super) quorum_due_ms: u64,
}

#[derive(Clone, Copy, Debug)]
struct Progress {
    matched: u64,
    next: u64,
    is_active: bool,
}

#[derive(Clone, Debug)]
struct Read {
    context: u64,
    asked_by: u8,
    id: u64,
    index: u64,
    acknowledged: BTreeSet<u8>,
}

impl Raft {
    pub(super) fn become_leader(&mut self, now_ms: u64) {
        let next = self.last_index() + 1;
        let progress = Progress { matched: 0, next, is_active: true };
        self.leader = self.me;
        self.role = Role::Leader(Leading {
            progress: self.others().map(|member| (member, progress)).collect(),
            reads: VecDeque::new(),
            next_context: 0,
            begins_at: next,
            heartbeat_due_ms: now_ms + self.tick_ms,
            quorum_due_ms: now_ms + self.election_ticks * self.tick_ms,
        });
        self.propose(Proposal { origin: self.me, id: 0, command: Command::Nothing });
    }

    pub(crate) fn propose(&mut self, proposal: Proposal) -> bool {
        if !self.is_leader() {
            let leader = self.leader;
            if leader != 0 {
                let body = Body::Propose(proposal);
                self.outbox.push(Message { from: self.me, to: leader, term: 0, body });
            }
            return leader != 0;
        }
        self.log.push(Entry { term: self.hard.term, proposal });
        self.others().for_each(|to| self.send_entries(to));
        true
    }

    fn send_entries(&mut self, to: u8) {
        let last = self.last_index();
        let Role::Leader(leading) = &mut self.role else { return };
        let Some(progress) = leading.progress.get_mut(&to) else { return };
        let next = progress.next.min(last + 1);
        let start = usize::try_from(next - 1).unwrap_or(usize::MAX);
        let entries: Vec<Entry> = self.log.iter().skip(start).take(ENTRIES_MAX).cloned().collect();
        progress.next = next + entries.len() as u64;
        let (index, commit) = (next - 1, self.hard.commit);
        let log_term = self.term_at(index).unwrap_or(0);
        self.queue_message(to, Body::Append { index, log_term, entries, commit });
    }

    pub(super) fn end_leader_tick(&mut self, now_ms: u64) {
        let (timeout_ms, quorum) = (self.election_ticks * self.tick_ms, self.quorum());
        let Role::Leader(leading) = &mut self.role else { return };
        if leading.quorum_due_ms <= now_ms {
            leading.quorum_due_ms = now_ms + timeout_ms;
            let active = leading.progress.values().filter(|it| it.is_active).count();
            if active + 1 < quorum {
                return self.become_follower(self.hard.term, 0, now_ms);
            }
            leading.progress.values_mut().for_each(|it| it.is_active = false);
        }
        if leading.heartbeat_due_ms <= now_ms {
            leading.heartbeat_due_ms = now_ms + self.tick_ms;
            let context = leading.reads.back().map_or(0, |read| read.context);
            self.send_heartbeats(context);
        }
    }

    fn send_heartbeats(&mut self, context: u64) {
        for to in self.others() {
            let Role::Leader(leading) = &self.role else { return };
            let matched = leading.progress.get(&to).map_or(0, |progress| progress.matched);
            let commit = self.hard.commit.min(matched);
            self.queue_message(to, Body::Heartbeat { commit, context });
        }
    }

    pub(super) fn handle_as_leader(&mut self, from: u8, body: Body) {
        if let Role::Leader(leading) = &mut self.role
            && let Some(progress) = leading.progress.get_mut(&from)
        {
            progress.is_active = true;
        }
        match body {
            Body::Propose(proposal) => {
                self.propose(proposal);
            }
            Body::AppendReply { index, reject: false, .. } => self.acknowledged(from, index),
            Body::AppendReply { index, reject: true, hint } => self.rejected(from, index, hint),
            Body::HeartbeatReply { context } => self.heartbeat_answered(from, context),
            Body::ReadIndex { id } => self.read(from, id),
            Body::ReadIndexReply { id, index } => self.readable.push((id, index)),
            _ => {}
        }
    }

    fn acknowledged(&mut self, from: u8, index: u64) {
        let last = self.last_index();
        let Role::Leader(leading) = &mut self.role else { return };
        let Some(progress) = leading.progress.get_mut(&from) else { return };
        progress.matched = progress.matched.max(index.min(last));
        progress.next = progress.next.max(progress.matched + 1);
        let is_behind = progress.next <= last;
        self.count_acknowledged();
        if is_behind {
            self.send_entries(from);
        }
    }

    fn rejected(&mut self, from: u8, index: u64, hint: u64) {
        let Role::Leader(leading) = &mut self.role else { return };
        let Some(progress) = leading.progress.get_mut(&from) else { return };
        if index <= progress.matched {
            return;
        }
        progress.next = index.min(hint.saturating_add(1)).max(progress.matched + 1).max(1);
        self.send_entries(from);
    }

    fn heartbeat_answered(&mut self, from: u8, context: u64) {
        let (last, quorum) = (self.last_index(), self.quorum());
        let Role::Leader(leading) = &mut self.role else { return };
        let is_behind = leading.progress.get_mut(&from).is_some_and(|progress| {
            let is_behind = progress.matched < last;
            if is_behind {
                // Send all entries after the last match again: later messages may have been lost.
                progress.next = progress.matched + 1;
            }
            is_behind
        });
        for read in leading.reads.iter_mut().filter(|read| read.context <= context) {
            read.acknowledged.insert(from);
        }
        let is_sure = |read: &Read| read.acknowledged.len() + 1 >= quorum;
        let sure = leading.reads.iter().rposition(is_sure).map_or(0, |at| at + 1);
        let sure: Vec<Read> = leading.reads.drain(..sure).collect();
        sure.into_iter().for_each(|read| self.confirm_read(read.asked_by, read.id, read.index));
        if is_behind {
            self.send_entries(from);
        }
    }

    fn confirm_read(&mut self, asked_by: u8, id: u64, index: u64) {
        if asked_by == self.me {
            self.readable.push((id, index));
        } else {
            self.queue_message(asked_by, Body::ReadIndexReply { id, index });
        }
    }

    pub(crate) fn read(&mut self, asked_by: u8, id: u64) {
        let (me, leader, index) = (self.me, self.leader, self.hard.commit);
        let is_alone = self.is_alone();
        let Role::Leader(leading) = &mut self.role else {
            if leader != 0 && asked_by == me {
                let body = Body::ReadIndex { id };
                self.outbox.push(Message { from: me, to: leader, term: 0, body });
            }
            return;
        };
        if index < leading.begins_at {
            return;
        }
        if is_alone {
            return self.confirm_read(asked_by, id, index);
        }
        leading.next_context += 1;
        let context = leading.next_context;
        leading.reads.retain(|read| (read.asked_by, read.id) != (asked_by, id));
        leading.reads.push_back(Read {
            context,
            asked_by,
            id,
            index,
            acknowledged: BTreeSet::new(),
        });
        self.send_heartbeats(context);
    }

    pub(super) fn count_acknowledged(&mut self) {
        let (quorum, synced) = (self.quorum(), self.synced);
        let Role::Leader(leading) = &self.role else { return };
        let mut matched: Vec<u64> = leading.progress.values().map(|it| it.matched).collect();
        matched.push(synced);
        matched.sort_unstable_by(|one, other| other.cmp(one));
        let index = matched.get(quorum - 1).copied().unwrap_or(0);
        if index > self.hard.commit && self.term_at(index) == Some(self.hard.term) {
            self.hard.commit = index;
            self.others().for_each(|to| self.send_entries(to));
        }
    }
}
