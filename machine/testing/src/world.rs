//! A deterministic cluster for tests ([`World`]), with a network, disks and clients.

use bytes::{Bytes, BytesMut};
use fencepost_machine::peers::Member;
use fencepost_machine::{
    ConnectionId, Damage, Disk, DiskImage, DiskReply, Input, Machine, MonotonicTime, Notice, Now,
    Output, Outputs, SyncOf, TapEvent, WallTime,
};
use std::collections::{BTreeMap, BTreeSet};

const LATENCY_US: u64 = 500;
const SYNC_US: u64 = 2_000;
const START_US: u64 = 1_000_000_000;
const EVENTS_MAX: u64 = 5_000_000;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct End {
    /// Index of the server, or `None` for a client.
    pub host: Option<usize>,
    pub connection: ConnectionId,
}

#[derive(Clone, Debug)]
enum Event {
    Timer { host: usize, life: u32, number: u64 },
    Synced { host: usize, life: u32 },
    Connect { from: End, to: usize },
    Connected(End),
    ConnectFailed(End),
    Bytes { to: End, bytes: Bytes },
    Closed(End),
}

#[derive(Debug)]
pub struct Host<M: ?Sized> {
    name: String,
    machine: Option<Box<M>>,
    pub disk: Disk,
    /// Wall clock of the server minus that of the world.
    pub clock_us: i64,
    life: u32,
    timer: u64,
    pub is_paused: bool,
    waiting: Vec<Event>,
    accepted: u32,
    pub taps: Vec<TapEvent>,
    pub damages: Vec<Damage>,
    /// For each [`Notice::Writes`], whether the server refuses writes.
    pub refusals: Vec<bool>,
    pub has_stopped: bool,
}

type Start<M> = Box<dyn Fn(u8, &DiskImage, Now) -> Box<M>>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Crash {
    Process,
    Power,
}

pub struct World<M: ?Sized> {
    pub now_us: u64,
    pub sync_us: u64,
    /// Number of events scheduled so far.
    pub sequence: u64,
    agenda: BTreeMap<(u64, u64), Event>,
    pub hosts: Vec<Host<M>>,
    start: Option<Start<M>>,
    pub peers: BTreeMap<End, End>,
    /// Directions in which no message arrives. `None` stands for the clients.
    cuts: BTreeSet<(usize, Option<usize>)>,
    held: Vec<Event>,
    clients: u32,
    pub inboxes: BTreeMap<End, BytesMut>,
    pub closed: BTreeSet<End>,
}

impl<M: Machine> World<M> {
    /// Starts servers. Their host names are the numbers from `first` on.
    pub fn started(
        count: usize,
        first: usize,
        start: impl Fn(u8, &DiskImage, Now) -> M + 'static,
    ) -> World<M> {
        let mut world = World::empty();
        world.start = Some(Box::new(move |me, disk, now| Box::new(start(me, disk, now))));
        for at in 0..count {
            let host = world.host((at + first).to_string());
            world.start(host);
        }
        world
    }
}

impl<M: Machine + ?Sized> World<M> {
    #[must_use]
    pub fn empty() -> World<M> {
        World {
            now_us: START_US,
            sync_us: SYNC_US,
            sequence: 0,
            agenda: BTreeMap::new(),
            hosts: Vec::new(),
            start: None,
            peers: BTreeMap::new(),
            cuts: BTreeSet::new(),
            held: Vec::new(),
            clients: 0,
            inboxes: BTreeMap::new(),
            closed: BTreeSet::new(),
        }
    }

    pub fn place(&self, name: &str) -> Option<usize> {
        self.hosts.iter().position(|host| host.name == name)
    }

    /// Returns the index of the host with this name, and adds the host if it is missing.
    pub fn host(&mut self, name: String) -> usize {
        self.place(&name).unwrap_or_else(|| {
            self.hosts.push(Host {
                name,
                machine: None,
                disk: Disk::default(),
                clock_us: 0,
                life: 0,
                timer: 0,
                is_paused: false,
                waiting: Vec::new(),
                accepted: 0,
                taps: Vec::new(),
                damages: Vec::new(),
                refusals: Vec::new(),
                has_stopped: false,
            });
            self.hosts.len() - 1
        })
    }

    #[must_use]
    pub fn now(&self, host: usize) -> Now {
        let wall = self.now_us.cast_signed() + 1_700_000_000_000_000 + self.hosts[host].clock_us;
        Now { wall: WallTime(wall), monotonic: MonotonicTime(self.now_us) }
    }

    fn schedule(&mut self, after_us: u64, event: Event) {
        self.sequence += 1;
        assert!(self.sequence < EVENTS_MAX, "the world does not come to rest: {event:?}");
        self.agenda.insert((self.now_us + after_us, self.sequence), event);
    }

    pub fn start(&mut self, host: usize) {
        let me = u8::try_from(host + 1).unwrap();
        let start = self.start.as_ref().unwrap();
        let machine = start(me, &self.hosts[host].disk.image(), self.now(host));
        self.launch(host, machine);
    }

    pub fn launch(&mut self, host: usize, machine: Box<M>) {
        let at = &mut self.hosts[host];
        at.machine = Some(machine);
        (at.taps, at.damages, at.refusals, at.has_stopped) = Default::default();
        self.input(host, Input::Timer);
    }

    pub fn crash(&mut self, host: usize, crash: Crash) {
        let at = &mut self.hosts[host];
        at.machine = None;
        at.life += 1;
        (at.is_paused, at.waiting) = (false, Vec::new());
        match crash {
            Crash::Power => at.disk.power_loss(),
            Crash::Process => at.disk.process_crash(),
        }
        let ends: Vec<(End, End)> = self.peers.iter().map(|(end, peer)| (*end, *peer)).collect();
        for (end, peer) in ends.into_iter().filter(|(end, _)| end.host == Some(host)) {
            self.peers.remove(&end);
            self.peers.remove(&peer);
            self.deliver_later(host, peer, Event::Closed(peer));
        }
    }

    /// Pauses a server. Its messages, timers and syncs wait until [`World::resume`].
    pub fn pause(&mut self, host: usize) {
        self.hosts[host].is_paused = true;
    }

    pub fn resume(&mut self, host: usize) {
        self.hosts[host].is_paused = false;
        for event in std::mem::take(&mut self.hosts[host].waiting) {
            self.happen(event);
        }
    }

    pub fn isolate(&mut self, host: usize) {
        for other in (0..self.hosts.len()).filter(|other| *other != host) {
            self.cut(host, other);
            self.cut(other, host);
        }
    }

    pub fn cut(&mut self, from: usize, to: usize) {
        self.cuts.insert((from, Some(to)));
    }

    /// Holds back a server's messages to its clients.
    pub fn cut_from_clients(&mut self, from: usize) {
        self.cuts.insert((from, None));
    }

    pub fn heal(&mut self) {
        self.cuts.clear();
        for event in std::mem::take(&mut self.held) {
            self.schedule(LATENCY_US, event);
        }
    }

    pub fn run(&mut self, span_ms: u64) {
        let until = self.now_us + span_ms * 1_000;
        while self.step(until) {}
        self.now_us = until;
    }

    /// Performs the next event that is due by `until_us`. Returns `false` if there is none.
    pub fn step(&mut self, until_us: u64) -> bool {
        let next = self.agenda.first_entry().filter(|entry| entry.key().0 <= until_us);
        let Some(entry) = next else { return false };
        self.now_us = entry.key().0;
        let event = entry.remove();
        self.happen(event);
        true
    }

    fn happen(&mut self, event: Event) {
        let host = match &event {
            Event::Timer { host, .. } | Event::Synced { host, .. } => Some(*host),
            Event::Connect { to, .. } => Some(*to),
            Event::Connected(end) | Event::ConnectFailed(end) | Event::Closed(end) => end.host,
            Event::Bytes { to, .. } => to.host,
        };
        match host {
            Some(host) if self.hosts[host].is_paused => self.hosts[host].waiting.push(event),
            Some(host) => self.happen_at(host, event),
            None => self.happen_to_client(event),
        }
    }

    fn happen_to_client(&mut self, event: Event) {
        match event {
            Event::Bytes { to, bytes } => {
                self.inboxes.entry(to).or_default().extend_from_slice(&bytes);
            }
            Event::Closed(end) => {
                self.closed.insert(end);
            }
            _ => {}
        }
    }

    fn happen_at(&mut self, host: usize, event: Event) {
        match event {
            Event::Timer { life, number, .. } => {
                let at = &self.hosts[host];
                if (at.life, at.timer) == (life, number) {
                    self.input(host, Input::Timer);
                }
            }
            Event::Synced { life, .. } if self.hosts[host].life == life => {
                let synced = self.hosts[host].disk.finish_sync();
                self.input(host, synced);
            }
            Event::Synced { .. } => {}
            Event::Connect { from, to } => self.accept(from, to),
            Event::Connected(End { connection, .. }) => {
                self.input(host, Input::Connected { connection });
            }
            Event::ConnectFailed(End { connection, .. }) => {
                self.input(host, Input::ConnectFailed { connection });
            }
            Event::Bytes { to, bytes } if self.peers.contains_key(&to) => {
                self.input(host, Input::Received { connection: to.connection, bytes: &bytes });
            }
            Event::Bytes { .. } => {}
            Event::Closed(End { connection, .. }) => {
                self.input(host, Input::Closed { connection });
            }
        }
    }

    fn accept(&mut self, from: End, to: usize) {
        if self.hosts[to].machine.is_none() {
            return self.deliver_later(to, from, Event::ConnectFailed(from));
        }
        let connection = ConnectionId(self.hosts[to].accepted);
        self.hosts[to].accepted += 1;
        let end = End { host: Some(to), connection };
        self.peers.insert(end, from);
        self.peers.insert(from, end);
        let name = from.host.map_or("client", |host| &self.hosts[host].name);
        let peer = format!("{name}:{}", 40_000 + connection.0 % 10_000);
        self.input(to, Input::Accepted { connection, peer: &peer });
        self.deliver_later(to, from, Event::Connected(from));
    }

    fn deliver_later(&mut self, from: usize, to: End, event: Event) {
        match self.cuts.contains(&(from, to.host)) {
            true => self.held.push(event),
            false => self.schedule(LATENCY_US, event),
        }
    }

    fn input(&mut self, host: usize, input: Input<'_>) {
        let now = self.now(host);
        let mut out = Outputs::default();
        let at = &mut self.hosts[host];
        let Some(machine) = at.machine.as_mut() else { return };
        machine.handle(input, now, &mut out);
        while out.more {
            let mut next = Outputs::default();
            machine.handle(Input::Continue, now, &mut next);
            out.list.append(&mut next.list);
            (out.more, out.stopped) = (next.more, out.stopped | next.stopped);
        }
        at.has_stopped |= out.stopped;
        for output in out.list {
            self.carry_out(host, output);
        }
    }

    fn carry_out(&mut self, host: usize, output: Output) {
        let life = self.hosts[host].life;
        match self.hosts[host].disk.apply(&output) {
            DiskReply::None => {}
            DiskReply::Sync => self.schedule(self.sync_us, Event::Synced { host, life }),
            DiskReply::Failed(error) => {
                self.input(host, Input::DiskFailed { of: SyncOf::Replacement, error });
            }
        }
        match output {
            Output::Send { connection, bytes } => {
                let end = End { host: Some(host), connection };
                if let Some(to) = self.peers.get(&end).copied() {
                    self.deliver_later(host, to, Event::Bytes { to, bytes });
                }
            }
            Output::Close { connection } | Output::Abort { connection } => {
                if let Some(peer) = self.peers.remove(&End { host: Some(host), connection }) {
                    self.deliver_later(host, peer, Event::Closed(peer));
                }
            }
            Output::Connect { connection, host: name, .. } => {
                let from = End { host: Some(host), connection };
                let Some(to) = self.place(&name) else {
                    return self.schedule(2 * LATENCY_US, Event::ConnectFailed(from));
                };
                let there = End { host: Some(to), connection };
                self.deliver_later(host, there, Event::Connect { from, to });
            }
            Output::WakeAfter { micros } => {
                self.hosts[host].timer += 1;
                let number = self.hosts[host].timer;
                self.schedule(micros, Event::Timer { host, life, number });
            }
            Output::Tap(tap) => self.hosts[host].taps.push(tap),
            Output::Damaged(damage) => self.hosts[host].damages.push(damage),
            Output::Notice(Notice::Writes { refused }) => self.hosts[host].refusals.push(refused),
            _ => {}
        }
    }

    /// Connects a client to a server, and runs the world for 1 ms. Returns the client's id.
    pub fn connect(&mut self, to: usize) -> ConnectionId {
        self.clients += 1;
        let from = End { host: None, connection: ConnectionId(self.clients) };
        self.schedule(LATENCY_US, Event::Connect { from, to });
        self.run(1);
        from.connection
    }

    pub fn send(&mut self, _at: usize, connection: ConnectionId, bytes: &Bytes) {
        if let Some(to) = self.peers.get(&End { host: None, connection }).copied() {
            self.schedule(LATENCY_US, Event::Bytes { to, bytes: bytes.clone() });
        }
    }

    pub fn hang_up(&mut self, connection: ConnectionId) {
        if let Some(peer) = self.peers.remove(&End { host: None, connection }) {
            self.schedule(LATENCY_US, Event::Closed(peer));
        }
    }

    pub fn send_line(&mut self, connection: ConnectionId, line: &str) {
        self.send(0, connection, &format!("{line}\n").into());
    }

    /// Removes and returns all text that a client has received, trimmed.
    pub fn received(&mut self, connection: ConnectionId) -> String {
        let inbox = self.inboxes.remove(&End { host: None, connection });
        String::from_utf8_lossy(&inbox.unwrap_or_default()).trim().to_owned()
    }

    /// Sends a line on a new connection, and returns the text received within 20 ms.
    pub fn ask(&mut self, at: usize, line: &str) -> String {
        let connection = self.connect(at);
        self.send_line(connection, line);
        self.run(20);
        let heard = self.received(connection);
        self.hang_up(connection);
        heard
    }

    pub fn server(&self, host: usize) -> Option<&M> {
        self.hosts[host].machine.as_deref()
    }

    pub fn disk(&self, host: usize) -> &Disk {
        &self.hosts[host].disk
    }

    pub fn taps(&mut self, host: usize) -> Vec<TapEvent> {
        std::mem::take(&mut self.hosts[host].taps)
    }

    /// Removes and returns a server's taps, as pairs of change and value.
    pub fn tap_lines(&mut self, host: usize) -> Vec<String> {
        let words = |tap: TapEvent| {
            let value = String::from_utf8_lossy(tap.value.as_deref().unwrap()).into_owned();
            format!("{:?} {value}", tap.change)
        };
        self.taps(host).into_iter().map(words).collect()
    }
}

/// Returns members 1 to `count`. Their host names are the numbers from `first` on.
#[must_use]
pub fn members(count: usize, first: usize, port: u16) -> Vec<Member> {
    let member = |at: usize| Member {
        id: u8::try_from(at + 1).unwrap(),
        host: (at + first).to_string(),
        port,
    };
    (0..count).map(member).collect()
}
