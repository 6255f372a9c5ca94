use crate::config::Config;
use crate::grantor::{Change, Grantor, Hold};
use crate::membership::Membership;
use crate::message::Message;
use crate::request::Request;
use fencepost_machine::peers::{self, Accepted, Line, Peers};
use fencepost_machine::wording::{self, Wording};
use fencepost_machine::{ConnectionId, Input, KeyChange, Machine, Now, Output, Outputs, TapEvent};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
struct Beat {
    view: u64,
    due: u64,
}

/// A server of the distributed system, which answers each line from a process with one line. `P` is
/// a process's name for one membership, `V` the number of the view that it knows, and `G` the
/// version of the grantor. Waits are in microseconds, leases and their ends in milliseconds. A
/// lease of zero never ends.
///
/// | request | answers |
/// | --- | --- |
/// | `join P` | later `joined SYSTEM V TIMEOUT`; `coordinator HOST PORT`, `later` |
/// | `alive P SYSTEM V [LOCK SERIAL END] ...` | `view V GRANTOR G ID,ID...`, after half a member timeout or when the view has changed |
/// | `lock P G LOCK SERIAL WAIT LEASE` | later `granted END`, `timeout`; `released` if the process has given up the call |
/// | `unlock P G LOCK SERIAL` | `unlocked`, `not-held` |
/// | `get P V KEY` | `value N` |
/// | `put P V KEY N` | `done` |
///
/// The server also answers with `departed` (the process is no longer a member), `later` (this
/// server does not know the process yet, or knows another view), `not-grantor`, `busy` (the grantor
/// is recovering), `full`, and `error TEXT`. A process sends `alive` to every server, `put` to
/// every server of its view, and `get` to any of them.
#[derive(Debug)]
pub struct GemFire {
    config: Config,
    pub(crate) membership: Membership,
    pub(crate) grantor: Option<Grantor>,
    peers: Peers,
    connections: Accepted,
    processes: BTreeMap<ConnectionId, String>,
    applicants: BTreeMap<ConnectionId, String>,
    beats: BTreeMap<ConnectionId, Beat>,
    now: Now,
    out: Outputs,
}

impl GemFire {
    pub fn new(config: Config, now: Now) -> GemFire {
        GemFire {
            membership: Membership::new(&config, born(now), now.monotonic.0),
            grantor: None,
            peers: Peers::default(),
            connections: Accepted::default(),
            processes: BTreeMap::new(),
            applicants: BTreeMap::new(),
            beats: BTreeMap::new(),
            now,
            out: Outputs::default(),
            config,
        }
    }

    fn dispatch(&mut self, input: Input<'_>) {
        match input {
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
                if let Some(peer) = self.peers.lost(connection) {
                    self.membership.lost(peer);
                }
                self.forget(connection);
            }
            Input::Connected { connection } => {
                let introduction = format!("server {}\n", self.config.me).into();
                self.peers.connected(connection, introduction, &mut self.out.list);
            }
            Input::Timer
            | Input::DiskSynced
            | Input::DiskFailed { .. }
            | Input::Unsent { .. }
            | Input::Operator { .. } => {}
        }
    }

    fn forget(&mut self, connection: ConnectionId) {
        self.connections.remove(connection);
        self.applicants.remove(&connection);
        self.beats.remove(&connection);
        if let Some(grantor) = &mut self.grantor {
            grantor.closed(connection);
        }
        let Some(process) = self.processes.remove(&connection) else { return };
        let now = self.now.monotonic.0;
        let is_there = self.processes.values().any(|other| *other == process);
        let health = self.membership.processes.get_mut(&process).filter(|_| !is_there);
        if let Some(health) = health {
            health.cut_off(now);
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
        match self.connections.take(from, "server ", is_other) {
            None => {}
            Some(Line::TooLong) => {
                self.send_line(from, peers::TOO_LONG);
                self.close(from);
            }
            Some(Line::Peer(peer, line)) => match Message::read(&line) {
                Some(message) => self.membership.handle_message(peer, message, born(self.now)),
                None => self.close(from),
            },
            Some(Line::Client(line)) => {
                self.out.commands += 1;
                match Request::read(&line) {
                    Ok(request) => self.answer(from, request),
                    Err(wrong) => self.send_line(from, &format!("error {wrong}")),
                }
            }
        }
    }

    fn answer(&mut self, from: ConnectionId, request: Request) {
        if let Some(refusal) = self.refusal(&request) {
            return self.send_line(from, refusal);
        }
        let now = self.now.monotonic.0;
        match request {
            Request::Join { process } => self.join(from, process),
            Request::Alive { process, view: (_, view), held } => {
                if let Some(health) = self.membership.processes.get_mut(&process) {
                    health.note_heard(now);
                }
                let grantor = self.grantor.as_mut();
                if let Some(grantor) = grantor.filter(|grantor| grantor.version <= view) {
                    grantor.recover(&process, held);
                }
                self.processes.insert(from, process);
                let due = now + self.config.heartbeat_us();
                self.beats.insert(from, Beat { view, due });
            }
            Request::Lock { lock, call, .. } => {
                if let Some(grantor) = &mut self.grantor {
                    grantor.lock(lock, call, from);
                }
            }
            Request::Unlock { process, lock, serial, .. } => {
                if let Some(grantor) = &mut self.grantor {
                    grantor.unlock(&lock, process, serial, from);
                }
            }
            Request::Get { key, .. } => {
                let value = self.membership.region.get(&key).copied().unwrap_or_default();
                self.send_line(from, &format!("value {value}"));
            }
            Request::Put { key, value, .. } => {
                let own = self.membership.region.entry(key).or_default();
                *own = value.max(*own);
                self.send_line(from, "done");
            }
        }
    }

    fn refusal(&self, request: &Request) -> Option<&'static str> {
        let process = request.process()?;
        let Some(view) = &self.membership.view else { return Some("later") };
        let is_member = view.processes.contains(process);
        let (is_behind, is_other) = match request {
            Request::Join { .. } => (false, false),
            Request::Alive { view: (system, number), .. } => {
                (*number > view.number, *system != view.system)
            }
            Request::Get { view: known, .. } | Request::Put { view: known, .. } => {
                (*known != view.number && is_member, false)
            }
            Request::Lock { version, .. } | Request::Unlock { version, .. } => {
                (*version > view.number, false)
            }
        };
        if is_behind || is_other {
            return Some("later");
        }
        if !is_member {
            return Some("departed");
        }
        let (Request::Lock { version, .. } | Request::Unlock { version, .. }) = request else {
            return None;
        };
        match &self.grantor {
            Some(grantor) if grantor.version == *version => {
                grantor.is_recovering().then_some("busy")
            }
            _ => Some("not-grantor"),
        }
    }

    fn join(&mut self, from: ConnectionId, process: String) {
        if self.membership.is_coordinator() {
            let view = self.membership.view.as_ref();
            if view.is_none_or(|view| !view.processes.contains(&process)) {
                self.membership.applicants.insert(process.clone());
            }
            self.applicants.insert(from, process);
            return;
        }
        let coordinator = self.membership.coordinator().map(|life| life.id);
        let found = self.config.others().find(|server| Some(server.id) == coordinator);
        let answer = match found {
            Some(server) => format!("coordinator {} {}", server.host, server.port),
            None => "later".to_owned(),
        };
        self.send_line(from, &answer);
    }

    fn settle(&mut self) {
        let now = self.now.monotonic.0;
        self.membership.advance(now, born(self.now));
        self.change_role();
        self.admit();
        self.beat(now);
        if let Some((grantor, view)) = self.grantor.as_mut().zip(self.membership.view.as_ref()) {
            grantor.advance(&view.processes, now, self.now.wall.as_millis());
        }
        self.report();
        for (to, message) in std::mem::take(&mut self.membership.outbox) {
            let Some(server) = self.config.others().find(|server| server.id == to) else {
                continue;
            };
            let to = (to, server.host.as_str(), server.port);
            self.peers.send(to, message.line().into(), &mut self.out.list);
        }
    }

    fn change_role(&mut self) {
        let me = self.membership.me;
        let view = self.membership.view.as_ref();
        let appointed = view.and_then(|view| Some((view.grantor?, view.processes.clone())));
        let appointed = appointed.filter(|(grantor, _)| grantor.server == me);
        let version = self.grantor.as_ref().map(|grantor| grantor.version);
        if appointed.as_ref().map(|(grantor, _)| grantor.version) == version {
            return;
        }
        let next = appointed.map(|(grantor, members)| Grantor::new(grantor.version, members));
        if let Some(mut last) = std::mem::replace(&mut self.grantor, next) {
            let discarded = |(lock, hold): (&String, &Hold)| Change {
                lock: lock.clone(),
                what: KeyChange::Discarded,
                hold: hold.clone(),
                by: None,
            };
            let changes: Vec<Change> = last.holds().map(discarded).collect();
            last.changes.extend(changes);
            self.tap(last.changes);
        }
    }

    fn admit(&mut self) {
        let is_coordinator = self.membership.is_coordinator();
        let view = self.membership.view.as_ref();
        let mut answers = Vec::new();
        self.applicants.retain(|connection, process| {
            let joined = view.filter(|view| view.processes.contains(process));
            let answer = match joined {
                Some(view) => {
                    let (system, number) = (view.system, view.number);
                    format!("joined {system} {number} {}", self.config.member_timeout_us)
                }
                None if is_coordinator => return true,
                None => "later".to_owned(),
            };
            answers.push((*connection, answer));
            false
        });
        for (connection, answer) in answers {
            self.send_line(connection, &answer);
        }
    }

    fn beat(&mut self, now: u64) {
        let Some(view) = &self.membership.view else { return self.drop_beats() };
        let (grantor, version) =
            view.grantor.map_or((0, 0), |grantor| (grantor.server.id, grantor.version));
        let ids: Vec<String> = view.servers.iter().map(|life| life.id.to_string()).collect();
        let answer = format!("view {} {grantor} {version} {}", view.number, ids.join(","));
        let mut answers = Vec::new();
        for (connection, beat) in &self.beats {
            let process = self.processes.get(connection);
            let is_member = process.is_some_and(|process| view.processes.contains(process));
            if !is_member {
                answers.push((*connection, "departed"));
            } else if beat.view < view.number || beat.due <= now {
                answers.push((*connection, answer.as_str()));
            }
        }
        let answers: Vec<(ConnectionId, String)> = answers
            .into_iter()
            .map(|(connection, answer)| (connection, answer.to_owned()))
            .collect();
        for (connection, answer) in answers {
            self.beats.remove(&connection);
            self.send_line(connection, &answer);
        }
    }

    fn drop_beats(&mut self) {
        for (connection, _) in std::mem::take(&mut self.beats) {
            self.send_line(connection, "later");
        }
    }

    fn report(&mut self) {
        let Some(grantor) = &mut self.grantor else { return };
        let answers = std::mem::take(&mut grantor.answers);
        let changes = std::mem::take(&mut grantor.changes);
        self.tap(changes);
        for (connection, answer) in answers {
            self.send_line(connection, &answer);
        }
    }

    fn tap(&mut self, changes: Vec<Change>) {
        let Some(prefix) = &self.config.tap_prefix else { return };
        let told = changes.into_iter().filter(|change| change.lock.starts_with(prefix.as_str()));
        self.out.list.extend(told.map(|Change { lock, what, hold, by }| {
            let is_there = matches!(what, KeyChange::Granted | KeyChange::Restored);
            Output::Tap(TapEvent {
                key: lock.into(),
                change: what,
                value: Some(format!("{}-{}", hold.process, hold.serial).into()),
                by,
                expires_at_ms: hold.expires_ms.filter(|_| is_there),
                primary: true,
                token: None,
            })
        }));
    }

    fn arm(&mut self) {
        let now = self.now.monotonic.0;
        let beats = self.beats.values().map(|beat| beat.due).min();
        let due = beats.unwrap_or(u64::MAX).min(self.membership.due()).saturating_sub(now);
        let granting = self.grantor.as_ref().and_then(Grantor::due_in).unwrap_or(u64::MAX);
        self.out.list.push(Output::WakeAfter { micros: due.min(granting).max(1) });
    }
}

fn born(now: Now) -> u64 {
    u64::try_from(now.wall.0).unwrap_or_default()
}

impl Machine for GemFire {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        std::mem::swap(&mut self.out, out);
        self.now = now;
        self.settle();
        self.dispatch(input);
        self.settle();
        self.out.more = self.connections.waiting().is_some();
        self.arm();
        std::mem::swap(&mut self.out, out);
    }

    fn is_ready(&self) -> bool {
        self.membership.view.is_some()
    }

    fn will_send(&self) -> bool {
        self.grantor.as_ref().is_some_and(Grantor::will_grant)
    }

    fn sign_of_life(&self) -> fn(&[u8]) -> bool {
        |bytes| bytes.starts_with(b"alive ")
    }

    fn wording(&self) -> Wording {
        wording::lines_without_json
    }
}
