//! A simulated network for tests, with hosts, latency, crashes, partitions and stepped clocks.

use crate::config::NodeConfig;
use crate::front::node::Node;
use bytes::{Bytes, BytesMut};
use fencepost_machine::{
    ConnectionId, Damage, Disk, DiskReply, Input, Machine, MonotonicTime, Notice, Now, Output,
    Outputs, SyncError, SyncOf, WallTime,
};
use redis_protocol::resp2::{decode::decode_bytes_mut, types::BytesFrame};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const LATENCY_US: u64 = 500;
const EPOCH_US: i64 = 1_700_000_000_000_000;
const EVENTS_MAX: u64 = 5_000_000;

type End = (String, ConnectionId);

#[derive(Debug)]
enum Happening {
    Timer { host: String, generation: u64 },
    Continue { host: String },
    Connect { from: End, host: String },
    Opened { to: End },
    Refused { to: End },
    Bytes { to: End, bytes: Vec<u8> },
    Closed { to: End },
    Synced { host: String, life: u64 },
}

struct Host {
    machine: Box<dyn Machine>,
    up: bool,
    clock_us: i64,
    generation: u64,
    life: u64,
    accepted: u32,
    peers: BTreeMap<ConnectionId, End>,
    taps: Vec<fencepost_machine::TapEvent>,
    refusals: Vec<bool>,
    damages: Vec<Damage>,
    has_stopped: bool,
}

pub(crate) struct World {
    now_us: u64,
    hosts: BTreeMap<String, Host>,
    queue: BTreeMap<(u64, u64), Happening>,
    happened: u64,
    clients: Vec<TestClient>,
    cuts: BTreeSet<(String, String)>,
    held: BTreeMap<(String, String), VecDeque<Happening>>,
    disks: BTreeMap<String, Disk>,
    pub(crate) sync_us: u64,
    outputs: Outputs,
}

#[derive(Default)]
struct TestClient {
    server: Option<End>,
    received: BytesMut,
    open: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ClientId(usize);

const TEST_HOST: &str = "test";

impl World {
    pub(crate) fn new() -> Self {
        Self {
            now_us: 0,
            hosts: BTreeMap::new(),
            queue: BTreeMap::new(),
            happened: 0,
            clients: Vec::new(),
            cuts: BTreeSet::new(),
            held: BTreeMap::new(),
            disks: BTreeMap::new(),
            sync_us: LATENCY_US,
            outputs: Outputs::default(),
        }
    }

    pub(crate) fn wall_time(&self) -> WallTime {
        WallTime(EPOCH_US + self.now_us as i64)
    }

    pub(crate) fn elapsed_ms(&self) -> u64 {
        self.now_us / 1_000
    }

    pub(crate) fn wall_time_of(&self, host: &str) -> WallTime {
        WallTime(self.wall_time().0 + self.hosts.get(host).map_or(0, |host| host.clock_us))
    }

    pub(crate) fn start(&mut self, host: &str, machine: impl Machine + 'static) {
        let old = self.hosts.remove(host);
        let (clock_us, generation) =
            old.as_ref().map_or((0, 0), |old| (old.clock_us, old.generation + 1));
        let new = Host {
            machine: Box::new(machine),
            up: true,
            clock_us,
            generation,
            life: old.as_ref().map_or(0, |old| old.life + 1),
            accepted: old.as_ref().map_or(0, |old| old.accepted),
            peers: BTreeMap::new(),
            taps: Vec::new(),
            refusals: Vec::new(),
            damages: Vec::new(),
            has_stopped: false,
        };
        self.hosts.insert(host.to_owned(), new);
        self.input(host, Input::Timer);
    }

    pub(crate) fn start_node(&mut self, host: &str, config: NodeConfig) {
        let config = NodeConfig { host: host.to_owned(), tap_prefix: Some(Bytes::new()), ..config };
        let seed = self.happened + host.bytes().map(u64::from).sum::<u64>();
        let disk = self.disks.entry(host.to_owned()).or_default().image();
        let node = Node::new(config, disk, seed, self.wall_time_of(host));
        self.start(host, node);
    }

    pub(crate) fn fail_syncs(&mut self, host: &str, error: Option<SyncError>) {
        self.disks.entry(host.to_owned()).or_default().fail_syncs(error);
    }

    pub(crate) fn has_stopped(&self, host: &str) -> bool {
        self.hosts.get(host).is_some_and(|host| host.has_stopped)
    }

    pub(crate) fn lose_power(&mut self, host: &str) {
        self.crash(host);
        self.disks.entry(host.to_owned()).or_default().power_loss();
    }

    /// Cuts the power. The last `lost` unsynced bytes are lost.
    pub(crate) fn tear(&mut self, host: &str, lost: usize) {
        self.crash(host);
        let disk = self.disks.entry(host.to_owned()).or_default();
        disk.torn_power_loss(disk.unsynced().saturating_sub(lost));
    }

    pub(crate) fn crash(&mut self, host: &str) {
        self.disks.entry(host.to_owned()).or_default().process_crash();
        let Some(dead) = self.hosts.get_mut(host) else { panic!("no host {host}") };
        dead.up = false;
        dead.generation += 1;
        for (connection, peer) in std::mem::take(&mut dead.peers) {
            self.send(
                (host.to_owned(), connection),
                peer.0.clone(),
                Happening::Closed { to: peer },
            );
        }
    }

    pub(crate) fn step_clock(&mut self, host: &str, by_ms: i64) {
        self.hosts.get_mut(host).unwrap().clock_us += by_ms * 1_000;
    }

    pub(crate) fn cut_one_way(&mut self, from: &str, to: &str) {
        self.cuts.insert((from.to_owned(), to.to_owned()));
    }

    pub(crate) fn cut(&mut self, one: &str, other: &str) {
        self.cuts.insert((one.to_owned(), other.to_owned()));
        self.cuts.insert((other.to_owned(), one.to_owned()));
    }

    pub(crate) fn isolate(&mut self, host: &str) {
        let others: Vec<String> =
            self.hosts.keys().filter(|other| *other != host).cloned().collect();
        others.iter().for_each(|other| self.cut(host, other));
    }

    pub(crate) fn heal(&mut self) {
        self.cuts.clear();
        for (_, held) in std::mem::take(&mut self.held) {
            held.into_iter().for_each(|happening| self.schedule(LATENCY_US, happening));
        }
    }

    pub(crate) fn run_for(&mut self, span_ms: u64) {
        let end = self.now_us + span_ms * 1_000;
        while self.step(end) {}
        self.now_us = end;
    }

    pub(crate) fn refusals(&self, host: &str) -> &[bool] {
        &self.hosts[host].refusals
    }

    pub(crate) fn taps(&self, host: &str) -> &[fencepost_machine::TapEvent] {
        &self.hosts[host].taps
    }

    pub(crate) fn put_disk(&mut self, host: &str, disk: Disk) {
        self.disks.insert(host.to_owned(), disk);
    }

    pub(crate) fn damages(&self, host: &str) -> &[Damage] {
        &self.hosts[host].damages
    }

    pub(crate) fn disk(&self, host: &str) -> &Disk {
        &self.disks[host]
    }

    pub(crate) fn connect(&mut self, host: &str) -> ClientId {
        let id = ClientId(self.clients.len());
        self.clients.push(TestClient::default());
        let from = (TEST_HOST.to_owned(), ConnectionId(id.0 as u32));
        self.send(
            from.clone(),
            host.to_owned(),
            Happening::Connect { from, host: host.to_owned() },
        );
        self.run_for(2);
        id
    }

    pub(crate) fn send_command(&mut self, client: ClientId, words: &[&str]) {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        let mut bytes = BytesMut::new();
        crate::protocol::outgoing::encode_command(&words, &mut bytes);
        self.send_raw(client, &bytes);
    }

    pub(crate) fn send_raw(&mut self, client: ClientId, bytes: &[u8]) {
        let Some(to) = self.clients[client.0].server.clone() else {
            panic!("{client:?} is not connected")
        };
        let from = (TEST_HOST.to_owned(), ConnectionId(client.0 as u32));
        self.send(from, to.0.clone(), Happening::Bytes { to, bytes: bytes.to_vec() });
    }

    pub(crate) fn raw(&mut self, client: ClientId) -> String {
        String::from_utf8_lossy(&self.clients[client.0].received.split()).into_owned()
    }

    pub(crate) fn next_frame(&mut self, client: ClientId) -> Option<BytesFrame> {
        let received = &mut self.clients[client.0].received;
        if received.is_empty() {
            return None;
        }
        decode_bytes_mut(received).unwrap().map(|(frame, ..)| frame)
    }

    pub(crate) fn call(&mut self, client: ClientId, words: &[&str]) -> BytesFrame {
        self.send_command(client, words);
        let end = self.now_us + 60_000_000;
        loop {
            if let Some(frame) = self.next_frame(client) {
                return frame;
            }
            assert!(self.step(end), "no reply to {words:?}");
        }
    }

    pub(crate) fn ask(&mut self, host: &str, words: &[&str]) -> BytesFrame {
        let client = self.connect(host);
        self.call(client, words)
    }

    pub(crate) fn ask_text(&mut self, host: &str, words: &[&str]) -> String {
        text(&self.ask(host, words))
    }

    pub(crate) fn is_open(&self, client: ClientId) -> bool {
        self.clients[client.0].open
    }

    pub(crate) fn drain_texts(&mut self, client: ClientId) -> Vec<String> {
        std::iter::from_fn(|| self.next_frame(client)).map(|frame| text(&frame)).collect()
    }

    fn step(&mut self, end_us: u64) -> bool {
        let Some(entry) = self.queue.first_entry().filter(|entry| entry.key().0 <= end_us) else {
            return false;
        };
        let ((at, _), happening) = entry.remove_entry();
        self.now_us = at;
        self.happen(happening);
        true
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Timer { host, generation } => {
                if self.hosts.get(&host).is_some_and(|host| host.generation == generation) {
                    self.input(&host, Input::Timer);
                }
            }
            Happening::Continue { host } => self.input(&host, Input::Continue),
            Happening::Synced { host, life } => {
                if self.hosts.get(&host).is_some_and(|host| host.up && host.life == life) {
                    let synced = self.disks.entry(host.clone()).or_default().finish_sync();
                    self.input(&host, synced);
                }
            }
            Happening::Connect { from, host } => self.try_connect(from, &host),
            Happening::Opened { to } if to.0 == TEST_HOST => self.client(&to).open = true,
            Happening::Opened { to } => self.input(&to.0, Input::Connected { connection: to.1 }),
            Happening::Refused { to } => {
                self.input(&to.0, Input::ConnectFailed { connection: to.1 })
            }
            Happening::Bytes { to, bytes } if to.0 == TEST_HOST => {
                self.client(&to).received.extend_from_slice(&bytes)
            }
            Happening::Bytes { to, bytes } if self.knows(&to) => {
                self.input(&to.0, Input::Received { connection: to.1, bytes: &bytes });
            }
            Happening::Closed { to } if to.0 == TEST_HOST => self.client(&to).open = false,
            Happening::Closed { to } if self.knows(&to) => {
                self.hosts.get_mut(&to.0).unwrap().peers.remove(&to.1);
                self.input(&to.0, Input::Closed { connection: to.1 });
            }
            Happening::Bytes { .. } | Happening::Closed { .. } => {}
        }
    }

    fn client(&mut self, end: &End) -> &mut TestClient {
        &mut self.clients[end.1.0 as usize]
    }

    fn knows(&self, end: &End) -> bool {
        self.hosts.get(&end.0).is_some_and(|host| host.peers.contains_key(&end.1))
    }

    fn try_connect(&mut self, from: End, name: &str) {
        let Some(host) = self.hosts.get_mut(name).filter(|host| host.up) else {
            let refused = Happening::Refused { to: from.clone() };
            return self.send((name.to_owned(), ConnectionId(0)), from.0, refused);
        };
        let connection = ConnectionId(host.accepted);
        host.accepted += 1;
        host.peers.insert(connection, from.clone());
        let here = (name.to_owned(), connection);
        if from.0 == TEST_HOST {
            self.client(&from).server = Some(here.clone());
        } else {
            self.hosts.get_mut(&from.0).unwrap().peers.insert(from.1, here.clone());
        }
        let peer = format!("{}:{}", from.0, 40_000 + connection.0 % 10_000);
        self.input(name, Input::Accepted { connection, peer: &peer });
        self.send(here, from.0.clone(), Happening::Opened { to: from });
    }

    fn input(&mut self, name: &str, input: Input<'_>) {
        let (wall, monotonic) = (self.wall_time_of(name), MonotonicTime(self.now_us));
        let now = Now { wall, monotonic };
        let mut out = std::mem::take(&mut self.outputs);
        out.clear();
        let Some(host) = self.hosts.get_mut(name).filter(|host| host.up) else {
            self.outputs = out;
            return;
        };
        host.machine.handle(input, now, &mut out);
        let more = out.more;
        host.has_stopped |= out.stopped;
        for output in out.list.drain(..) {
            self.output(name, output);
        }
        if more {
            self.schedule(0, Happening::Continue { host: name.to_owned() });
        }
        self.outputs = out;
    }

    fn output(&mut self, name: &str, output: Output) {
        let host = self.hosts.get_mut(name).unwrap();
        match output {
            Output::Send { connection, bytes } => {
                let Some(to) = host.peers.get(&connection).cloned() else { return };
                self.send(
                    (name.to_owned(), connection),
                    to.0.clone(),
                    Happening::Bytes { to, bytes: bytes.to_vec() },
                );
            }
            Output::Close { connection } | Output::Abort { connection } => {
                let Some(to) = host.peers.remove(&connection) else { return };
                self.send((name.to_owned(), connection), to.0.clone(), Happening::Closed { to });
            }
            Output::Connect { connection, host, .. } => {
                let from = (name.to_owned(), connection);
                self.send(from.clone(), host.clone(), Happening::Connect { from, host });
            }
            Output::WakeAfter { micros } => {
                host.generation += 1;
                let timer = Happening::Timer { host: name.to_owned(), generation: host.generation };
                self.schedule(micros, timer);
            }
            output @ (Output::DiskSync
            | Output::DiskAppend { .. }
            | Output::DiskReplace { .. }
            | Output::DiskConfig { .. }) => {
                let disk = self.disks.entry(name.to_owned()).or_default();
                match disk.apply(&output) {
                    DiskReply::None => {}
                    DiskReply::Sync => {
                        let (host, life) = (name.to_owned(), host.life);
                        self.schedule(self.sync_us, Happening::Synced { host, life });
                    }
                    DiskReply::Failed(error) => {
                        self.input(name, Input::DiskFailed { of: SyncOf::Replacement, error });
                    }
                }
            }
            Output::Damaged(damage) => host.damages.push(damage),
            Output::Tap(event) => host.taps.push(event),
            Output::Notice(Notice::Writes { refused }) => host.refusals.push(refused),
            Output::Notice(_) => {}
        }
    }

    fn send(&mut self, from: End, to: String, happening: Happening) {
        let direction = (from.0, to);
        if self.cuts.contains(&direction) {
            self.held.entry(direction).or_default().push_back(happening);
        } else {
            self.schedule(LATENCY_US, happening);
        }
    }

    fn schedule(&mut self, after_us: u64, happening: Happening) {
        self.happened += 1;
        assert!(self.happened < EVENTS_MAX, "the world does not come to rest: {happening:?}");
        self.queue.insert((self.now_us + after_us, self.happened), happening);
    }
}

pub(crate) fn text(frame: &BytesFrame) -> String {
    match frame {
        BytesFrame::SimpleString(bytes) | BytesFrame::BulkString(bytes) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
        BytesFrame::Error(text) => format!("-{text}"),
        BytesFrame::Integer(number) => number.to_string(),
        BytesFrame::Array(frames) => frames.iter().map(text).collect::<Vec<_>>().join(" "),
        BytesFrame::Null => "(nil)".to_owned(),
    }
}
