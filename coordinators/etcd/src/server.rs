use crate::config::Config;
use crate::connection::Connection;
use crate::lessor;
use crate::peers::Peers;
use crate::pending::Calls;
use crate::raft::{Body, Message, Proposal, Raft, Setup};
use crate::reply::Responder;
use crate::state::{Command, State};
use crate::tap::LockHeads;
use crate::wal::{self, Wal};
use crate::wording;
use bytes::Bytes;
use fencepost_machine::journal::{self, Check};
use fencepost_machine::wording::Wording;
use fencepost_machine::{
    ConnectionId, DiskImage, Input, KeyChange, Machine, Now, Output, Outputs, TapEvent,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// If a timer is more than this many milliseconds late, the server assumes that it was paused.
const LATE_MS: u64 = 100;

/// An etcd server, alone or in a cluster. The driver sends [`Input::Timer`] when the server boots.
#[derive(Debug)]
pub struct Etcd {
    pub(crate) config: Config,
    pub(crate) now: Now,
    pub(crate) out: Outputs,
    pub(crate) state: State,
    pub(crate) raft: Raft,
    wal: Wal,
    check: Check,
    pub(crate) applied: u64,
    held: VecDeque<(u64, Message)>,
    pub(crate) peers: Peers,
    pub(crate) connections: BTreeMap<ConnectionId, Connection>,
    pub(crate) ready: BTreeSet<ConnectionId>,
    pub(crate) calls: Calls,
    pub(crate) heads: LockHeads,
    pub(crate) leader: u8,
    pub(crate) leader_since_ms: u64,
    /// Boot time in microseconds. The server checks lease expiry at fixed intervals from this time.
    booted_us: u64,
    has_booted: bool,
    armed: Option<u64>,
}

impl Etcd {
    pub fn new(config: Config, disk: &DiskImage, now: Now) -> Etcd {
        let files = journal::open(disk);
        let (hard, log) = wal::load(&files.log);
        let mut members: BTreeSet<u8> = config.members.iter().map(|member| member.id).collect();
        members.insert(config.me);
        let setup = Setup {
            me: config.me,
            members,
            tick_ms: config.heartbeat_ms,
            election_ticks: config.election_ticks,
            seed: config.seed ^ now.monotonic.0 ^ u64::from(config.me) << 56,
        };
        Etcd {
            state: State::new(config.ttl_min()),
            raft: Raft::new(setup, hard, log, now.monotonic.0 / 1_000),
            wal: Wal::new(hard),
            check: files.check,
            applied: 0,
            held: VecDeque::new(),
            peers: Peers::new(),
            connections: BTreeMap::new(),
            ready: BTreeSet::new(),
            calls: Calls::new(config.me, now.wall),
            heads: LockHeads::new(config.tap_prefix.clone()),
            leader: 0,
            leader_since_ms: 0,
            booted_us: now.monotonic.0,
            has_booted: false,
            armed: None,
            out: Outputs::default(),
            config,
            now,
        }
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.now.monotonic.0 / 1_000
    }

    pub(crate) fn responder(&self) -> Responder {
        Responder { member: self.config.me, term: self.raft.hard.term }
    }

    pub(crate) fn send(&mut self, connection: ConnectionId, bytes: Bytes) {
        self.out.list.push(Output::Send { connection, bytes });
    }

    fn boot(&mut self) {
        self.has_booted = true;
        while let Some(command) = self.next_committed() {
            self.state.apply(&command.command, 0);
        }
        let told = self.heads.restore(&self.state.store);
        self.out.list.extend(told.into_iter().map(Output::Tap));
    }

    fn next_committed(&mut self) -> Option<Proposal> {
        if self.applied >= self.raft.hard.commit {
            return None;
        }
        let entry = self.raft.log.get(usize::try_from(self.applied).ok()?)?;
        self.applied += 1;
        Some(entry.proposal.clone())
    }

    fn dispatch(&mut self, input: Input<'_>) {
        match input {
            Input::Timer if self.has_booted => self.wake(),
            Input::Timer => self.boot(),
            Input::Accepted { connection, peer } => self.accepted(connection, peer),
            Input::Received { connection, bytes } => self.received(connection, bytes),
            Input::Continue | Input::Operator { .. } => {}
            Input::Closed { connection } | Input::ConnectFailed { connection } => {
                self.lost(connection);
            }
            Input::Connected { connection } => {
                self.peers.connected(connection, &mut self.out.list);
            }
            Input::DiskSynced => {
                let last = self.raft.last_index();
                let index = self.wal.disk_synced(last, &mut self.out.list);
                self.raft.disk_synced(index);
            }
            // As in the real server, a failure of `wal.Save` is fatal (`etcdserver/raft.go`).
            Input::DiskFailed { .. } => self.out.stopped = true,
            Input::Unsent { connection, bytes } => self.unsent(connection, bytes),
        }
    }

    fn lost(&mut self, connection: ConnectionId) {
        if connection.was_accepted() {
            self.closed(connection);
        } else {
            self.peers.lost(connection);
        }
    }

    pub(crate) fn handle_message(&mut self, message: Message) {
        let now_ms = self.now_ms();
        self.peers.note_heard(message.from, now_ms);
        match message.body {
            Body::LeaseAsk { call, lease, renews: true } => {
                self.receive_renewal(message.from, call, lease)
            }
            Body::LeaseAsk { call, lease, renews: false } => {
                self.receive_lease_query(message.from, call, lease)
            }
            Body::LeaseTold { call, told } => self.handle_lease_answer(call, told),
            _ => self.raft.step(message, now_ms),
        }
    }

    fn wake(&mut self) {
        let now_ms = self.now_ms();
        if let Some(armed) = self.armed.take() {
            let late_ms = (self.now.monotonic.0 - armed.min(self.now.monotonic.0)) / 1_000;
            if late_ms > LATE_MS {
                self.raft.shift(late_ms);
            }
        }
        self.raft.wake(now_ms);
        if self.raft.is_leader()
            && self.lease_check_due().is_some_and(|due| due <= self.now.monotonic.0)
        {
            for lease in self.state.lessor.expired(self.now.monotonic.0) {
                let command = Command::LeaseRevoke(lease);
                self.raft.propose(Proposal { origin: self.config.me, id: 0, command });
            }
        }
        self.wake_calls();
    }

    fn lease_check_due(&self) -> Option<u64> {
        let ended = self.state.lessor.next_due()?;
        let looks = ended.saturating_sub(self.booted_us).div_ceil(lessor::CHECK_INTERVAL_US);
        Some(self.booted_us + looks * lessor::CHECK_INTERVAL_US)
    }

    fn settle(&mut self) {
        for _ in 0..1_000 {
            self.wal.write(&mut self.raft, &mut self.out.list);
            self.send_queued_messages();
            self.notice_leader();
            let is_done = match self.next_committed() {
                Some(proposal) => {
                    self.apply(&proposal);
                    false
                }
                None => true,
            };
            let has_read = self.finish_reads();
            let is_calm =
                self.raft.outbox.is_empty() && self.raft.first_unwritten > self.raft.last_index();
            if is_done && !has_read && is_calm {
                return;
            }
        }
    }

    /// Sends the queued messages. The leader sends immediately; other members first wait until
    /// their writes are on disk.
    fn send_queued_messages(&mut self) {
        let is_leader = self.raft.is_leader();
        for message in std::mem::take(&mut self.raft.outbox) {
            match self.wal.ticket().filter(|_| !is_leader) {
                Some(ticket) => self.held.push_back((ticket, message)),
                None => self.peers.send_message(&self.config, &message, &mut self.out.list),
            }
        }
        while self.held.front().is_some_and(|(ticket, _)| self.wal.is_synced(*ticket)) {
            if let Some((_, message)) = self.held.pop_front() {
                self.peers.send_message(&self.config, &message, &mut self.out.list);
            }
        }
    }

    fn notice_leader(&mut self) {
        if !self.raft.is_leader() {
            self.state.lessor.demote();
        }
        if self.raft.leader != self.leader {
            self.leader = self.raft.leader;
            if self.leader != 0 {
                self.leader_since_ms = self.now_ms();
            }
            self.fail_calls_of_old_leader();
        }
    }

    fn apply(&mut self, proposal: &Proposal) {
        let Proposal { origin, id, command } = proposal;
        let is_own = *origin == self.config.me && *id != 0;
        let applied = self.state.apply(command, self.now.monotonic.0);
        let asked_by = if is_own { self.calls.connection(*id) } else { None };
        if self.heads.is_watching() && !applied.events.is_empty() {
            let left = match command {
                Command::LeaseRevoke(_) if *id == 0 => KeyChange::Expired,
                _ => KeyChange::Removed,
            };
            for event in applied.events.iter().filter(|event| event.is_put) {
                self.heads.asked(&event.kv.key, asked_by);
            }
            let keys = applied.events.iter().map(|event| &event.kv.key);
            let primary = self.raft.is_leader();
            let told = self.heads.take_changes(&self.state.store, keys, left, asked_by);
            let told = told.into_iter().map(|event| Output::Tap(TapEvent { primary, ..event }));
            self.out.list.extend(told);
        }
        if *command == Command::Nothing
            && self.raft.is_leader()
            && self.raft.term_at(self.applied) == Some(self.raft.hard.term)
        {
            let extend_us = self.config.election_ms() * 1_000;
            self.state.lessor.promote(self.now.monotonic.0, extend_us);
        }
        if !applied.events.is_empty() {
            self.notify_watchers(&applied.events);
        }
        if let Command::LeaseRevoke(lease) = command {
            self.handle_lease_end(*lease);
        }
        if *command == Command::Nothing {
            self.ask_again();
        }
        if is_own {
            self.finish(*id, applied.outcome);
        }
        self.recheck_locks(&applied.events);
    }

    fn next_due(&self) -> Option<u64> {
        let raft = self.raft.next_due().map(|ms| ms * 1_000);
        let look = self.lease_check_due().filter(|_| self.raft.is_leader());
        let calls = self.calls.next_due().map(|ms| ms * 1_000);
        raft.into_iter().chain(look).chain(calls).min()
    }

    fn arm(&mut self) {
        let due = self.next_due();
        if !self.has_booted || due == self.armed {
            return;
        }
        self.armed = due;
        if let Some(due) = due {
            let micros = due.saturating_sub(self.now.monotonic.0).max(1);
            self.out.list.push(Output::WakeAfter { micros });
        }
    }
}

impl Machine for Etcd {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        if self.check.report(out) {
            return;
        }
        std::mem::swap(&mut self.out, out);
        self.now = now;
        let is_service = matches!(input, Input::Received { .. } | Input::Continue);
        self.dispatch(input);
        if is_service {
            self.serve_next();
        }
        self.settle();
        self.out.more = self.has_more();
        self.arm();
        std::mem::swap(&mut self.out, out);
    }

    fn is_ready(&self) -> bool {
        self.raft.leader != 0
    }

    fn will_send(&self) -> bool {
        !self.state.lessor.is_empty() || self.calls.next_due().is_some()
    }

    fn sign_of_life(&self) -> fn(&[u8]) -> bool {
        |bytes| bytes.starts_with(b"POST /v3/lease/keepalive ")
    }

    fn wording(&self) -> Wording {
        wording::etcd
    }
}
