//! Pending calls and their timeouts (`etcdserver/v3_server.go`).

mod about;
mod leases;
mod lock;

use crate::check;
use crate::lease::Lease;
use crate::locking::Locking;
use crate::mvcc::Event;
use crate::pending::{Pending, READ_RETRY_MS, Reading, Task};
use crate::raft::{LeaseTold, Proposal};
use crate::refusal::Refusal;
use crate::request::Call;
use crate::server::Etcd;
use crate::state::{Command, Outcome};
use fencepost_machine::ConnectionId;

impl Etcd {
    pub(crate) fn begin(&mut self, connection: ConnectionId, call: Call) {
        if let Err(refusal) = check::call(&call) {
            return self.reply(connection, Err(refusal));
        }
        let write = |command| Task::Write { command, is_proposed: false };
        let task = match call {
            Call::Range(range) if range.serializable => {
                let told =
                    self.state.range(&range).map(|outcome| self.responder().outcome(&outcome));
                return self.reply(connection, told);
            }
            Call::Txn(txn) if txn.is_read_only() && txn.is_serializable() => {
                let told = self.state.txn(&txn).map(|outcome| self.responder().outcome(&outcome));
                return self.reply(connection, told);
            }
            Call::LeaseLeases | Call::Status | Call::MemberList => {
                let told = self.about(&call);
                return self.reply(connection, Ok(told));
            }
            Call::Range(range) => Task::Range(range),
            Call::Txn(txn) if txn.is_read_only() => Task::Look(txn),
            Call::Txn(txn) => write(Command::Txn(txn)),
            Call::Put(put) => write(Command::Put(put)),
            Call::DeleteRange(delete) => write(Command::DeleteRange(delete)),
            Call::LeaseGrant { id: 0, ttl } => {
                let id = self.calls.next_id().cast_signed() & i64::MAX;
                write(Command::LeaseGrant { id, ttl })
            }
            Call::LeaseGrant { id, ttl } => write(Command::LeaseGrant { id, ttl }),
            Call::LeaseRevoke(id) => write(Command::LeaseRevoke(id)),
            Call::LeaseTimeToLive { id, keys } => Task::Lease(Lease::query(id, keys)),
            Call::Lock { name, lease } => Task::Lock(Locking::new(&name, lease)),
            Call::Unlock(key) => Task::Lock(Locking::unlock(key)),
        };
        self.add_pending(Some(connection), task);
    }

    pub(crate) fn begin_renewal(&mut self, connection: ConnectionId, id: i64) {
        self.add_pending(Some(connection), Task::Lease(Lease::renewal(id)));
    }

    pub(crate) fn add_pending(&mut self, connection: Option<ConnectionId>, task: Task) -> u64 {
        let (call, started_ms) = (self.calls.next_id(), self.now_ms());
        let has_end = !matches!(task, Task::Lock(_));
        let deadline_ms = has_end.then(|| started_ms + self.config.request_ms());
        let pending = Pending { connection, started_ms, deadline_ms, task: task.clone() };
        self.calls.pending.insert(call, pending);
        match task {
            Task::Range(_) | Task::Look(_) => self.read(call),
            Task::Write { .. } => self.propose(call),
            Task::Lease(_) => self.ask_lease(call),
            Task::Lock(_) => self.lock_on(call, None),
        }
        call
    }

    pub(crate) fn restart(&mut self, call: u64) {
        let (started_ms, limit_ms) = (self.now_ms(), self.config.request_ms());
        if let Some(pending) = self.calls.pending.get_mut(&call) {
            (pending.started_ms, pending.deadline_ms) = (started_ms, Some(started_ms + limit_ms));
        }
    }

    pub(crate) fn wait_for_ever(&mut self, call: u64) {
        if let Some(pending) = self.calls.pending.get_mut(&call) {
            pending.deadline_ms = None;
        }
    }

    fn propose(&mut self, call: u64) {
        let Some(Pending { task: Task::Write { command, is_proposed }, .. }) =
            self.calls.pending.get_mut(&call)
        else {
            return;
        };
        let proposal = Proposal { origin: self.config.me, id: call, command: command.clone() };
        *is_proposed = self.raft.propose(proposal);
    }

    pub(crate) fn propose_for(&mut self, call: u64, command: Command) -> bool {
        self.raft.propose(Proposal { origin: self.config.me, id: call, command })
    }

    pub(crate) fn read(&mut self, call: u64) {
        self.calls.waiting_reads.insert(call);
        self.begin_reading();
    }

    fn begin_reading(&mut self) {
        if self.calls.reading.is_some() || self.calls.waiting_reads.is_empty() {
            return;
        }
        let (id, started_ms) = (self.calls.next_id(), self.now_ms());
        let calls = std::mem::take(&mut self.calls.waiting_reads);
        let ask_again_ms = started_ms + READ_RETRY_MS;
        self.calls.reading = Some(Reading { id, calls, started_ms, ask_again_ms, index: None });
        self.raft.read(self.config.me, id);
    }

    pub(crate) fn ask_again(&mut self) {
        if let Some(Reading { id, index: None, .. }) = self.calls.reading {
            self.raft.read(self.config.me, id);
        }
    }

    pub(crate) fn finish_reads(&mut self) -> bool {
        let readable = std::mem::take(&mut self.raft.readable);
        let Some(reading) = &mut self.calls.reading else { return false };
        for (id, index) in readable {
            if id == reading.id {
                reading.index = Some(index);
            }
        }
        if reading.index.is_none_or(|index| index > self.applied) {
            return false;
        }
        let calls = std::mem::take(&mut reading.calls);
        self.calls.reading = None;
        for call in calls {
            let outcome = match self.calls.pending.get(&call).map(|pending| &pending.task) {
                Some(Task::Range(range)) => self.state.range(range),
                Some(Task::Look(txn)) => {
                    let txn = txn.clone();
                    self.state.txn(&txn)
                }
                Some(Task::Lock(locking)) => match locking.wanted() {
                    Some(range) => self.state.range(&range),
                    None => continue,
                },
                _ => continue,
            };
            self.finish(call, outcome);
        }
        self.begin_reading();
        true
    }

    fn fail_reads(&mut self, refusal: &Refusal) {
        let Some(reading) = self.calls.reading.take() else { return };
        for call in reading.calls {
            self.finish(call, Err(refusal.clone()));
        }
        self.begin_reading();
    }

    pub(crate) fn finish(&mut self, call: u64, outcome: Result<Outcome, Refusal>) {
        match self.calls.pending.get(&call) {
            None => {}
            Some(Pending { task: Task::Lock(_), .. }) => self.lock_on(call, Some(outcome)),
            Some(_) => {
                let told = outcome.map(|outcome| self.responder().outcome(&outcome));
                self.conclude(call, told);
            }
        }
    }

    pub(crate) fn conclude(&mut self, call: u64, told: Result<String, Refusal>) {
        let Some(pending) = self.calls.pending.remove(&call) else { return };
        let Some(connection) = pending.connection else { return };
        match pending.task {
            Task::Lease(Lease { renews: true, .. }) => self.answer_keep_alive(connection, told),
            _ => self.reply(connection, told),
        }
    }

    pub(crate) fn abandon(&mut self, connection: ConnectionId) {
        let calls = self.calls.pending.iter_mut();
        let calls = calls.filter(|(_, pending)| pending.connection == Some(connection));
        let mut abandoned = Vec::new();
        for (call, pending) in calls {
            pending.connection = None;
            abandoned.push(*call);
        }
        abandoned.into_iter().for_each(|call| self.give_up_lock(call));
    }

    pub(crate) fn fail_calls_of_old_leader(&mut self) {
        if self.raft.leader == 0 {
            return;
        }
        self.fail_reads(&Refusal::LeaderChanged);
        let unproposed =
            self.calls.pending.iter().filter(|(_, pending)| {
                matches!(pending.task, Task::Write { is_proposed: false, .. })
            });
        let unproposed: Vec<u64> = unproposed.map(|(call, _)| *call).collect();
        unproposed.into_iter().for_each(|call| self.propose(call));
        self.propose_locks();
        for (_, call, of) in std::mem::take(&mut self.calls.ended) {
            match of {
                Some(member) => self.answer_lease(member, call, LeaseTold::NotLeader),
                None => self.ask_lease(call),
            }
        }
    }

    pub(crate) fn wake_calls(&mut self) {
        let now_ms = self.now_ms();
        if let Some(reading) = &mut self.calls.reading
            && reading.index.is_none()
            && reading.ask_again_ms <= now_ms
        {
            reading.ask_again_ms = now_ms + READ_RETRY_MS;
            let is_over = now_ms >= reading.started_ms + self.config.request_ms();
            if is_over { self.fail_reads(&Refusal::Timeout) } else { self.ask_again() }
        }
        let over = self.calls.pending.iter();
        let over = over.filter(|(_, it)| it.deadline_ms.is_some_and(|deadline| deadline <= now_ms));
        let over: Vec<u64> = over.map(|(call, _)| *call).collect();
        for call in over {
            let refusal = self.timeout_refusal(call);
            self.calls.waiting_reads.remove(&call);
            self.finish(call, Err(refusal));
        }
        let again = self.calls.pending.iter().filter(|(_, pending)| {
            matches!(&pending.task, Task::Lease(lease) if lease.ask_again_ms <= now_ms)
        });
        let again: Vec<u64> = again.map(|(call, _)| *call).collect();
        again.into_iter().for_each(|call| self.ask_lease(call));
    }

    fn timeout_refusal(&self, call: u64) -> Refusal {
        let Some(pending) = self.calls.pending.get(&call) else { return Refusal::Timeout };
        let (started_ms, leader) = (pending.started_ms, self.raft.leader);
        match &pending.task {
            Task::Range(_) | Task::Look(_) => return Refusal::Timeout,
            Task::Lease(_) if leader == 0 => return Refusal::NoLeader,
            Task::Lease(_) => return Refusal::Timeout,
            Task::Write { is_proposed: false, .. } => return Refusal::DeadlineExceeded,
            Task::Write { .. } | Task::Lock(_) => {}
        }
        let lost_ms = self.leader_since_ms.saturating_sub(2 * self.config.election_ms());
        if started_ms > lost_ms && started_ms < self.leader_since_ms {
            return Refusal::TimeoutLeaderFailed;
        }
        let is_reached = |member| self.peers.is_connected_since(member, started_ms);
        let is_lost = if leader == self.config.me {
            let reached = self.config.others().filter(|member| is_reached(member.id)).count();
            reached < self.config.members.len() / 2
        } else {
            leader != 0 && !is_reached(leader)
        };
        if is_lost { Refusal::TimeoutConnectionLost } else { Refusal::Timeout }
    }

    pub(crate) fn recheck_locks(&mut self, events: &[Event]) {
        let deleted = events.iter().filter(|event| !event.is_put);
        for event in deleted {
            let waiting = self.calls.pending.iter().filter(|(_, pending)| {
                matches!(&pending.task, Task::Lock(lock) if lock.waits_for(&event.kv.key))
            });
            let waiting: Vec<u64> = waiting.map(|(call, _)| *call).collect();
            waiting.into_iter().for_each(|call| self.read_first_key(call));
        }
    }
}
