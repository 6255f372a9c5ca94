//! Servers in a world whose clock moves only by command.
//!
//! Messages between servers take no time unless replication lags. All events of one instant finish
//! before the next command, so a test sees their effects when it gets its reply.

use super::event::{End, Event};
use super::history::History;
use bytes::Bytes;
use fencepost_machine::{
    ConnectionId, Disk, DiskImage, DiskReply, Input, Machine, MonotonicTime, Now, Output, Outputs,
    WallTime,
};
use fencepost_serve::Sent;
use std::collections::{BTreeMap, VecDeque};

/// Initial time of every clock: 14 November 2023, 22:13:20 UTC.
const BEGINNING_US: i64 = 1_700_000_000_000_000;
const EVENTS_MAX: u64 = 1_000_000;

pub(super) type Boot = Box<dyn Fn(DiskImage, u64, WallTime) -> Box<dyn Machine>>;

pub(super) struct Server {
    pub(super) name: String,
    pub(super) port: u16,
    pub(super) is_sentinel: bool,
    boot: Boot,
    machine: Option<Box<dyn Machine>>,
    pub(super) is_frozen: bool,
    pub(super) is_cut: bool,
    pub(super) stepped_us: i64,
    timer: u64,
    life: u64,
    accepted: u32,
    peers: BTreeMap<ConnectionId, Peer>,
    disk: Disk,
    arriving: VecDeque<Event>,
    leaving: VecDeque<Leaving>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Peer {
    Outside(u64),
    Inside(End),
    Operator,
}

enum Leaving {
    Outside(u64, Sent),
    Inside(u64, Event),
}

/// A fault that loses the next reply to a command and its connection.
pub(super) struct Trap {
    pub(super) server: Option<usize>,
    pub(super) command: String,
}

pub(super) struct Stage {
    pub(super) now_us: u64,
    pub(super) servers: Vec<Server>,
    queue: BTreeMap<(u64, u64), Event>,
    happened: u64,
    outside: BTreeMap<u64, End>,
    sent: Vec<(u64, Sent)>,
    pub(super) lag_us: u64,
    pub(super) primary: usize,
    pub(super) traps: Vec<Trap>,
    pub(super) history: History,
    outputs: Outputs,
}

impl Stage {
    pub(super) fn new(servers: Vec<Server>) -> Stage {
        let mut stage = Stage {
            now_us: 0,
            servers,
            queue: BTreeMap::new(),
            happened: 0,
            outside: BTreeMap::new(),
            sent: Vec::new(),
            lag_us: 0,
            primary: 0,
            traps: Vec::new(),
            history: History::default(),
            outputs: Outputs::default(),
        };
        (0..stage.servers.len()).for_each(|server| stage.start(server));
        stage.settle();
        stage
    }

    pub(super) fn wall(&self) -> WallTime {
        WallTime(BEGINNING_US + self.now_us as i64)
    }

    pub(super) fn take_sent(&mut self) -> Vec<(u64, Sent)> {
        std::mem::take(&mut self.sent)
    }

    pub(super) fn open(&mut self, server: usize, outside: u64, peer: &str) {
        self.schedule(0, Event::Visit { server, outside, peer: peer.to_owned() });
        self.settle();
    }

    pub(super) fn receive(&mut self, server: usize, outside: u64, bytes: &[u8]) {
        let bytes = Bytes::copy_from_slice(bytes);
        self.schedule(0, Event::Data { server, outside, bytes });
        self.settle();
    }

    pub(super) fn close(&mut self, server: usize, outside: u64) {
        self.schedule(0, Event::Left { server, outside });
        self.settle();
    }

    pub(super) fn advance(&mut self, span_us: u64) -> bool {
        let end = self.now_us.saturating_add(span_us);
        let comes_to_rest = self.run_until(end);
        self.now_us = end;
        comes_to_rest
    }

    pub(super) fn settle(&mut self) -> bool {
        self.run_until(self.now_us)
    }

    fn run_until(&mut self, end: u64) -> bool {
        let mut in_this_instant = 0;
        while let Some(entry) = self.queue.first_entry().filter(|entry| entry.key().0 <= end) {
            let ((at, _), event) = entry.remove_entry();
            in_this_instant = if at > self.now_us { 0 } else { in_this_instant + 1 };
            if in_this_instant > EVENTS_MAX {
                return false;
            }
            self.now_us = self.now_us.max(at);
            let server = &mut self.servers[event.server()];
            if server.is_frozen || (server.is_cut && event.is_of_the_network()) {
                server.arriving.push_back(event);
            } else {
                self.happen(event);
            }
        }
        true
    }

    fn schedule(&mut self, after_us: u64, event: Event) {
        self.happened += 1;
        self.queue.insert((self.now_us.saturating_add(after_us), self.happened), event);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Timer { server, timer } if self.servers[server].timer == timer => {
                self.input(server, Input::Timer);
            }
            Event::Continue { server } => self.input(server, Input::Continue),
            Event::Synced { server, life } if self.servers[server].life == life => {
                self.servers[server].disk.finish_sync();
                self.input(server, Input::DiskSynced);
            }
            Event::Timer { .. } | Event::Synced { .. } => {}
            Event::Knock { from, server } => self.knock(from, server),
            Event::Opened { to } if self.knows(to) => {
                self.input(to.0, Input::Connected { connection: to.1 });
            }
            Event::Refused { to } if self.servers[to.0].machine.is_some() => {
                self.input(to.0, Input::ConnectFailed { connection: to.1 });
            }
            Event::Bytes { to, bytes } if self.knows(to) => {
                self.input(to.0, Input::Received { connection: to.1, bytes: &bytes });
            }
            Event::Closed { to } if self.knows(to) => {
                self.servers[to.0].peers.remove(&to.1);
                self.input(to.0, Input::Closed { connection: to.1 });
            }
            Event::Opened { .. }
            | Event::Refused { .. }
            | Event::Bytes { .. }
            | Event::Closed { .. } => {}
            Event::Visit { server, outside, peer } => self.visit(server, outside, &peer),
            Event::Data { outside, bytes, .. } => self.receive_from_outside(outside, &bytes),
            Event::Left { outside, .. } => {
                if let Some((server, connection)) = self.outside.remove(&outside) {
                    self.servers[server].peers.remove(&connection);
                    self.input(server, Input::Closed { connection });
                }
            }
        }
    }

    fn knows(&self, end: End) -> bool {
        self.servers[end.0].peers.contains_key(&end.1)
    }

    fn admit(&mut self, server: usize, peer: Peer, address: &str) -> ConnectionId {
        let host = &mut self.servers[server];
        let connection = ConnectionId(host.accepted);
        host.accepted += 1;
        host.peers.insert(connection, peer);
        self.input(server, Input::Accepted { connection, peer: address });
        connection
    }

    fn knock(&mut self, from: End, server: usize) {
        if self.servers[server].machine.is_none() {
            return self.schedule(0, Event::Refused { to: from });
        }
        let address = format!("127.0.0.1:{}", self.servers[from.0].port);
        let connection = self.admit(server, Peer::Inside(from), &address);
        self.servers[from.0].peers.insert(from.1, Peer::Inside((server, connection)));
        self.send_inside(server, from, |to| Event::Opened { to });
    }

    fn visit(&mut self, server: usize, outside: u64, peer: &str) {
        if self.servers[server].machine.is_none() {
            return self.sent.push((outside, Sent::Close));
        }
        let connection = self.admit(server, Peer::Outside(outside), peer);
        self.outside.insert(outside, (server, connection));
    }

    fn receive_from_outside(&mut self, outside: u64, bytes: &[u8]) {
        let Some((server, connection)) = self.outside.get(&outside).copied() else { return };
        let named = super::wire::first_word(bytes);
        let springs = |trap: &Trap| {
            trap.server.is_none_or(|of| of == server)
                && named.as_ref().is_some_and(|name| name.eq_ignore_ascii_case(&trap.command))
        };
        let Some(place) = self.traps.iter().position(springs) else {
            return self.input(server, Input::Received { connection, bytes });
        };
        let trap = self.traps.remove(place);
        self.servers[server].peers.insert(connection, Peer::Operator);
        self.input(server, Input::Received { connection, bytes });
        let told = format!("the reply to {} is lost", trap.command);
        self.history.note(self.now_us, &self.servers[server].name, told);
        self.outside.remove(&outside);
        self.servers[server].peers.remove(&connection);
        self.sent.push((outside, Sent::Close));
        self.input(server, Input::Closed { connection });
    }

    pub(super) fn command(&mut self, server: usize, words: &[&str]) {
        if self.servers[server].machine.is_none() {
            return;
        }
        let connection = self.admit(server, Peer::Operator, "127.0.0.1:0");
        let bytes = super::wire::command(words);
        self.input(server, Input::Received { connection, bytes: &bytes });
        self.servers[server].peers.remove(&connection);
        self.input(server, Input::Closed { connection });
        self.settle();
    }

    fn input(&mut self, server: usize, input: Input<'_>) {
        let wall = WallTime(self.wall().0 + self.servers[server].stepped_us);
        let now = Now { wall, monotonic: MonotonicTime(self.now_us) };
        let Some(machine) = &mut self.servers[server].machine else { return };
        let mut out = std::mem::take(&mut self.outputs);
        out.clear();
        machine.handle(input, now, &mut out);
        out.list.drain(..).for_each(|output| self.carry_out(server, output));
        if out.more {
            self.schedule(0, Event::Continue { server });
        }
        let has_ended = out.stopped;
        self.outputs = out;
        if has_ended {
            self.crash(server);
        }
    }

    fn carry_out(&mut self, server: usize, output: Output) {
        match output {
            Output::Send { connection, bytes } => {
                match self.servers[server].peers.get(&connection).copied() {
                    Some(Peer::Outside(outside)) => {
                        self.send_outside(server, outside, Sent::Bytes(bytes));
                    }
                    Some(Peer::Inside(to)) => {
                        self.send_inside(server, to, |to| Event::Bytes { to, bytes });
                    }
                    Some(Peer::Operator) | None => {}
                }
            }
            Output::Close { connection } | Output::Abort { connection } => {
                self.hang_up(server, connection);
            }
            Output::Connect { connection, port, .. } => {
                let from = (server, connection);
                match self.servers.iter().position(|other| other.port == port) {
                    Some(to) => self.send_to(server, to, Event::Knock { from, server: to }),
                    None => self.schedule(0, Event::Refused { to: from }),
                }
            }
            Output::WakeAfter { micros } => {
                let host = &mut self.servers[server];
                host.timer += 1;
                let timer = Event::Timer { server, timer: host.timer };
                self.schedule(micros.max(1), timer);
            }
            Output::Tap(event) => {
                let name = &self.servers[server].name;
                self.history.tap(self.now_us, name, &event);
            }
            Output::Damaged(_) | Output::Notice(_) => {}
            output => {
                let host = &mut self.servers[server];
                if host.disk.apply(&output) == DiskReply::Sync {
                    let life = host.life;
                    self.schedule(0, Event::Synced { server, life });
                }
            }
        }
    }

    fn hang_up(&mut self, server: usize, connection: ConnectionId) {
        match self.servers[server].peers.remove(&connection) {
            Some(Peer::Outside(outside)) => {
                self.outside.remove(&outside);
                self.send_outside(server, outside, Sent::Close);
            }
            Some(Peer::Inside(to)) => self.send_inside(server, to, |to| Event::Closed { to }),
            Some(Peer::Operator) | None => {}
        }
    }

    fn send_outside(&mut self, server: usize, outside: u64, sent: Sent) {
        let host = &mut self.servers[server];
        if host.is_cut {
            host.leaving.push_back(Leaving::Outside(outside, sent));
        } else {
            self.sent.push((outside, sent));
        }
    }

    fn send_inside(&mut self, server: usize, to: End, event: impl FnOnce(End) -> Event) {
        self.send_to(server, to.0, event(to));
    }

    fn send_to(&mut self, server: usize, to: usize, event: Event) {
        // Messages between two servers that are not Sentinels are replication.
        let is_late = !self.servers[server].is_sentinel && !self.servers[to].is_sentinel;
        let after = if is_late { self.lag_us } else { 0 };
        let host = &mut self.servers[server];
        if host.is_cut {
            host.leaving.push_back(Leaving::Inside(after, event));
        } else {
            self.schedule(after, event);
        }
    }

    fn start(&mut self, server: usize) {
        let wall = WallTime(self.wall().0 + self.servers[server].stepped_us);
        let host = &mut self.servers[server];
        host.life += 1;
        host.timer += 1;
        let seed = host.life << 8 | server as u64;
        host.machine = Some((host.boot)(host.disk.image(), seed, wall));
        self.input(server, Input::Timer);
    }

    pub(super) fn is_up(&self, server: usize) -> bool {
        self.servers[server].machine.is_some()
    }

    pub(super) fn crash(&mut self, server: usize) {
        let host = &mut self.servers[server];
        host.machine = None;
        (host.is_frozen, host.is_cut) = (false, false);
        (host.life, host.timer) = (host.life + 1, host.timer + 1);
        host.disk.process_crash();
        let waiting = std::mem::take(&mut host.arriving);
        host.leaving.clear();
        let connections: Vec<ConnectionId> = host.peers.keys().copied().collect();
        for connection in connections {
            self.hang_up(server, connection);
        }
        for event in waiting {
            self.schedule(0, event);
        }
    }

    pub(super) fn restart(&mut self, server: usize, is_empty: bool) {
        if is_empty {
            self.servers[server].disk = Disk::default();
        }
        self.start(server);
        self.settle();
    }

    pub(super) fn release(&mut self, server: usize) {
        let host = &mut self.servers[server];
        (host.is_frozen, host.is_cut) = (false, false);
        let (arriving, leaving) =
            (std::mem::take(&mut host.arriving), std::mem::take(&mut host.leaving));
        for left in leaving {
            match left {
                Leaving::Outside(outside, sent) => self.sent.push((outside, sent)),
                Leaving::Inside(after, event) => self.schedule(after, event),
            }
        }
        arriving.into_iter().for_each(|event| self.schedule(0, event));
        self.settle();
    }

    pub(super) fn reset(&mut self) {
        let outside: Vec<u64> = self.outside.keys().copied().collect();
        let mut sent = std::mem::take(&mut self.sent);
        sent.extend(outside.into_iter().map(|outside| (outside, Sent::Close)));
        let servers = std::mem::take(&mut self.servers);
        let new = |old: Server| Server::new((old.name, old.port), old.is_sentinel, old.boot);
        *self = Stage::new(servers.into_iter().map(new).collect());
        sent.append(&mut self.sent);
        self.sent = sent;
    }
}

impl Server {
    pub(super) fn new((name, port): (String, u16), is_sentinel: bool, boot: Boot) -> Server {
        Server {
            name,
            port,
            is_sentinel,
            boot,
            machine: None,
            is_frozen: false,
            is_cut: false,
            stepped_us: 0,
            timer: 0,
            life: 0,
            accepted: 0,
            peers: BTreeMap::new(),
            disk: Disk::default(),
            arriving: VecDeque::new(),
            leaving: VecDeque::new(),
        }
    }
}
