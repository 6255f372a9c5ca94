use crate::config::Config;
use crate::master::{FollowUp, Master};
use crate::message::Message;
use crate::replica::{Replica, Saved};
use crate::request::Request;
use crate::state::State;
use crate::tap::LockHeads;
use fencepost_machine::journal::{self, Check};
use fencepost_machine::peers::{self, Accepted, Line, Peers};
use fencepost_machine::wording::{self, Wording};
use fencepost_machine::{ConnectionId, DiskImage, Input, KeyChange, Machine, Now, Output, Outputs};
use std::collections::VecDeque;

#[derive(Clone, Debug)]
struct Proposed {
    index: u64,
    state: State,
    then: Vec<FollowUp>,
}

/// A replica of a Chubby cell, which answers each line from a client with one line. `S` is the
/// session, and `E` the epoch of the master that the client knows. Durations are in microseconds.
///
/// | request | answers |
/// | --- | --- |
/// | `master` | `master here`, `master HOST PORT`, `master unknown` |
/// | `open` | `session S E LEASE` |
/// | `keepalive S E EVENTS` | later `alive E HELD LEASE EVENTS [failed-over] [acquired LOCK] ...` |
/// | `acquire S E LOCK N DELAY` | `acquired GENERATION`; `waiting` until an event lets the client ask again; `released` |
/// | `release S E LOCK N` | `released`, even if the session did not hold the lock |
/// | `check S E LOCK GENERATION` | `valid`, `invalid` (`CheckSequencer`) |
/// | `close S E` | `closed` |
///
/// `N` counts the acquires of a session. A release covers the lock's acquires up to `N`, even if
/// they arrive after the release. Other answers are `expired` (the session has ended), `epoch E`
/// (the client must send a KeepAlive to the new master), `busy` (not all sessions have acknowledged
/// the new master), `not-master`, `full`, and `error TEXT`. The answer to a KeepAlive contains how
/// long the master held the KeepAlive, how long the lease still lasts at least, how many events
/// this master has sent, and the unacknowledged events.
#[derive(Debug)]
pub struct Chubby {
    config: Config,
    check: Check,
    replica: Replica,
    pub(crate) master: Option<Master>,
    proposed: VecDeque<Proposed>,
    peers: Peers,
    connections: Accepted,
    heads: LockHeads,
    has_booted: bool,
    now: u64,
    out: Outputs,
}

impl Chubby {
    pub fn new(config: Config, disk: &DiskImage, now: Now) -> Chubby {
        let files = journal::open(disk);
        let saved: Option<Saved> =
            files.snapshot.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let others = config.others().map(|member| member.id).collect();
        let seed = config.seed ^ now.monotonic.0 ^ u64::from(config.me) << 56;
        let start = (now.monotonic.0, seed);
        Chubby {
            replica: Replica::new(config.me, others, saved.unwrap_or_default(), start),
            check: files.check,
            master: None,
            proposed: VecDeque::new(),
            peers: Peers::default(),
            connections: Accepted::default(),
            heads: LockHeads::new(config.tap_prefix.clone()),
            has_booted: false,
            now: now.monotonic.0,
            out: Outputs::default(),
            config,
        }
    }

    fn dispatch(&mut self, input: Input<'_>) {
        match input {
            Input::Timer if !self.has_booted => {
                self.has_booted = true;
                self.report(None, KeyChange::Restored);
            }
            Input::Accepted { connection, .. } => {
                let max = self.config.connections_max;
                self.connections.accept(connection, max, &mut self.out.list);
            }
            Input::Received { connection, bytes } => {
                self.connections.receive(connection, bytes);
                self.serve(connection);
            }
            Input::Continue => {
                if let Some(connection) = self.connections.waiting() {
                    self.serve(connection);
                }
            }
            Input::Closed { connection } | Input::ConnectFailed { connection } => {
                self.forget(connection);
                self.peers.lost(connection);
            }
            Input::Connected { connection } => {
                let introduction = format!("replica {}\n", self.config.me).into();
                self.peers.connected(connection, introduction, &mut self.out.list);
            }
            Input::DiskFailed { .. } => self.out.stopped = true,
            Input::Timer | Input::DiskSynced | Input::Unsent { .. } | Input::Operator { .. } => {}
        }
    }

    fn forget(&mut self, connection: ConnectionId) {
        self.connections.remove(connection);
        self.heads.closed(connection);
        if let Some(master) = &mut self.master {
            master.closed(connection);
        }
    }

    fn close(&mut self, connection: ConnectionId) {
        self.forget(connection);
        self.out.list.push(Output::Close { connection });
    }

    fn send_line(&mut self, connection: ConnectionId, answer: &str) {
        self.out.list.push(peers::line(connection, answer));
    }

    fn serve(&mut self, from: ConnectionId) {
        let config = &self.config;
        let is_other = |id| config.others().any(|other| other.id == id);
        match self.connections.take(from, "replica ", is_other) {
            None => {}
            Some(Line::TooLong) => {
                self.send_line(from, peers::TOO_LONG);
                self.close(from);
            }
            Some(Line::Peer(peer, line)) => match Message::read(&line) {
                Some(message) => self.replica.handle_message(peer, message, self.now),
                None => self.close(from),
            },
            Some(Line::Client(line)) => {
                self.out.commands += 1;
                self.answer(from, &line);
            }
        }
    }

    fn answer(&mut self, from: ConnectionId, line: &str) {
        let request = match Request::read(line) {
            Ok(request) => request,
            Err(wrong) => return self.send_line(from, &format!("error {wrong}")),
        };
        let Some(master) = &mut self.master else {
            let answer = match request {
                Request::Master => self.master_line(),
                _ => "not-master".to_owned(),
            };
            return self.send_line(from, &answer);
        };
        if let Request::Acquire { caller, .. } | Request::Release { caller, .. } = &request {
            self.heads.asked(caller.session, from);
        }
        master.serve(request, from, &mut self.replica.saved.accepted.state);
    }

    fn master_line(&self) -> String {
        let leader = self.replica.leader;
        let found = self.config.others().find(|member| Some(member.id) == leader);
        match found {
            Some(member) => format!("master {} {}", member.host, member.port),
            None => "master unknown".to_owned(),
        }
    }

    fn settle(&mut self) {
        self.replica.advance(self.now);
        self.change_role();
        if let Some(master) = &mut self.master {
            master.advance(&mut self.replica.saved.accepted.state, self.now);
        }
        self.propose();
        if std::mem::take(&mut self.replica.is_unsaved) {
            self.save();
        }
        self.answer_committed();
        if self.master.is_none() && self.replica.learned == self.replica.saved.accepted.place() {
            self.report(None, KeyChange::Granted);
        }
        for (to, message) in std::mem::take(&mut self.replica.outbox) {
            let Some(member) = self.config.others().find(|member| member.id == to) else {
                continue;
            };
            let to = (to, member.host.as_str(), member.port);
            self.peers.send(to, message.line().into(), &mut self.out.list);
        }
    }

    fn change_role(&mut self) {
        match (self.replica.is_serving(), self.master.is_some()) {
            (true, false) => {
                let state = &self.replica.saved.accepted.state;
                self.master = Some(Master::new(&self.config, state, self.now));
            }
            (false, true) => {
                (self.master, self.proposed) = (None, VecDeque::new());
                for connection in self.connections.clients().collect::<Vec<_>>() {
                    self.close(connection);
                }
            }
            (true, true) | (false, false) => {}
        }
    }

    fn propose(&mut self) {
        let Some(master) = &mut self.master else { return };
        if !master.is_changed && master.then.is_empty() {
            return;
        }
        let then = std::mem::take(&mut master.then);
        let index = match std::mem::take(&mut master.is_changed) {
            true => self.replica.propose(self.now),
            false => self.replica.saved.accepted.index,
        };
        let state = self.replica.saved.accepted.state.clone();
        self.proposed.push_back(Proposed { index, state, then });
    }

    fn answer_committed(&mut self) {
        while let Some(first) = self.proposed.front()
            && self.replica.is_committed(first.index)
            && let Some(Proposed { state, then, .. }) = self.proposed.pop_front()
        {
            self.report(Some(&state), KeyChange::Granted);
            for one in then {
                match one {
                    FollowUp::Answer(connection, answer) => self.send_line(connection, &answer),
                    FollowUp::Granted { session, lock } => {
                        if let Some(master) = &mut self.master {
                            master.granted(session, lock, state.epoch);
                        }
                    }
                }
            }
        }
        let answers = self.master.as_mut().map(|master| std::mem::take(&mut master.answers));
        for (connection, answer) in answers.unwrap_or_default() {
            self.send_line(connection, &answer);
        }
    }

    fn report(&mut self, state: Option<&State>, granted: KeyChange) {
        let state = state.unwrap_or(&self.replica.saved.accepted.state);
        let told = self.heads.take_changes(state, granted, self.master.is_some());
        self.out.list.extend(told.into_iter().map(Output::Tap));
    }

    fn save(&mut self) {
        let json = serde_json::to_vec(&self.replica.saved).unwrap_or_default();
        let snapshot = Some(journal::record(&json));
        let image = DiskImage { snapshot, ..DiskImage::default() };
        self.out.list.push(Output::DiskReplace { image });
    }

    fn arm(&mut self) {
        let dues = [Some(self.replica.due()), self.master.as_ref().and_then(Master::due)];
        let due = dues.into_iter().flatten().min().unwrap_or(u64::MAX);
        self.out.list.push(Output::WakeAfter { micros: due.saturating_sub(self.now).max(1) });
    }
}

impl Machine for Chubby {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        if self.check.report(out) {
            return;
        }
        std::mem::swap(&mut self.out, out);
        self.now = now.monotonic.0;
        // Also settle before the input, because this master's lease may have expired.
        self.settle();
        self.dispatch(input);
        self.settle();
        self.out.more = self.connections.waiting().is_some();
        self.arm();
        std::mem::swap(&mut self.out, out);
    }

    fn is_ready(&self) -> bool {
        self.master.is_some() || self.replica.leader.is_some_and(|leader| leader != self.config.me)
    }

    fn will_send(&self) -> bool {
        let state = &self.replica.saved.accepted.state;
        self.master.as_ref().is_some_and(|master| master.will_grant(state))
    }

    fn sign_of_life(&self) -> fn(&[u8]) -> bool {
        |bytes| bytes.starts_with(b"keepalive ")
    }

    fn wording(&self) -> Wording {
        wording::lines_without_json
    }
}
