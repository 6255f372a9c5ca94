//! A simulated network for tests, with named hosts and with clients that send commands.

use crate::config::NodeConfig;
use crate::front::node::Node;
use bytes::{Bytes, BytesMut};
use fencepost_machine::{ConnectionId, Damage, Disk, Machine, SyncError, TapEvent, WallTime};
use fencepost_testing::{Crash, End, Host};
use redis_protocol::resp2::{decode::decode_bytes_mut, types::BytesFrame};

const SYNC_US: u64 = 500;

pub(crate) type ClientId = ConnectionId;

pub(crate) struct World(fencepost_testing::World<dyn Machine>);

fencepost_testing::deref!(World, 0: fencepost_testing::World<dyn Machine>);

impl World {
    pub(crate) fn new() -> World {
        let mut world = World(fencepost_testing::World::empty());
        (world.now_us, world.sync_us) = (0, SYNC_US);
        world
    }

    pub(crate) fn elapsed_ms(&self) -> u64 {
        self.now_us / 1_000
    }

    pub(crate) fn run_for(&mut self, span_ms: u64) {
        self.run(span_ms);
    }

    fn at(&mut self, host: &str) -> usize {
        self.host(host.to_owned())
    }

    fn started(&self, host: &str) -> &Host<dyn Machine> {
        &self.hosts[self.place(host).unwrap()]
    }

    fn host_named(&mut self, host: &str) -> &mut Host<dyn Machine> {
        let at = self.at(host);
        &mut self.hosts[at]
    }

    pub(crate) fn wall_time_of(&mut self, host: &str) -> WallTime {
        let at = self.at(host);
        self.now(at).wall
    }

    pub(crate) fn start(&mut self, host: &str, machine: impl Machine + 'static) {
        let at = self.at(host);
        self.launch(at, Box::new(machine));
    }

    pub(crate) fn start_node(&mut self, host: &str, config: NodeConfig) {
        let config = NodeConfig { host: host.to_owned(), tap_prefix: Some(Bytes::new()), ..config };
        let seed = self.sequence + host.bytes().map(u64::from).sum::<u64>();
        let (image, wall) = (self.disk(host).image(), self.wall_time_of(host));
        self.start(host, Node::new(config, image, seed, wall));
    }

    pub(crate) fn fail_syncs(&mut self, host: &str, error: Option<SyncError>) {
        self.disk(host).fail_syncs(error);
    }

    pub(crate) fn has_stopped(&self, host: &str) -> bool {
        self.started(host).has_stopped
    }

    pub(crate) fn lose_power(&mut self, host: &str) {
        let at = self.at(host);
        self.0.crash(at, Crash::Power);
    }

    /// Cuts the power, which loses the last `lost` unsynced bytes.
    pub(crate) fn tear(&mut self, host: &str, lost: usize) {
        self.crash(host);
        let disk = self.disk(host);
        disk.torn_power_loss(disk.unsynced().saturating_sub(lost));
    }

    pub(crate) fn crash(&mut self, host: &str) {
        let at = self.at(host);
        self.0.crash(at, Crash::Process);
    }

    pub(crate) fn step_clock(&mut self, host: &str, by_ms: i64) {
        self.host_named(host).clock_us += by_ms * 1_000;
    }

    pub(crate) fn cut_one_way(&mut self, from: &str, to: &str) {
        let (from, to) = (self.at(from), self.at(to));
        self.0.cut(from, to);
    }

    pub(crate) fn cut_from_clients(&mut self, host: &str) {
        let at = self.at(host);
        self.0.cut_from_clients(at);
    }

    pub(crate) fn cut(&mut self, one: &str, other: &str) {
        self.cut_one_way(one, other);
        self.cut_one_way(other, one);
    }

    pub(crate) fn isolate(&mut self, host: &str) {
        let at = self.at(host);
        self.0.isolate(at);
    }

    pub(crate) fn refusals(&self, host: &str) -> &[bool] {
        &self.started(host).refusals
    }

    pub(crate) fn taps(&self, host: &str) -> &[TapEvent] {
        &self.started(host).taps
    }

    pub(crate) fn damages(&self, host: &str) -> &[Damage] {
        &self.started(host).damages
    }

    pub(crate) fn disk(&mut self, host: &str) -> &mut Disk {
        &mut self.host_named(host).disk
    }

    pub(crate) fn connect(&mut self, host: &str) -> ClientId {
        let at = self.at(host);
        let client = self.0.connect(at);
        self.run(1);
        client
    }

    pub(crate) fn send_command(&mut self, client: ClientId, words: &[&str]) {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        let mut bytes = BytesMut::new();
        crate::protocol::outgoing::encode_command(&words, &mut bytes);
        self.send_raw(client, &bytes);
    }

    pub(crate) fn send_raw(&mut self, client: ClientId, bytes: &[u8]) {
        self.send(0, client, &Bytes::copy_from_slice(bytes));
    }

    fn inbox(&mut self, client: ClientId) -> &mut BytesMut {
        self.inboxes.entry(End { host: None, connection: client }).or_default()
    }

    pub(crate) fn raw(&mut self, client: ClientId) -> String {
        String::from_utf8_lossy(&self.inbox(client).split()).into_owned()
    }

    pub(crate) fn next_frame(&mut self, client: ClientId) -> Option<BytesFrame> {
        let received = self.inbox(client);
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
        let end = End { host: None, connection: client };
        self.peers.contains_key(&end) && !self.closed.contains(&end)
    }

    pub(crate) fn drain_texts(&mut self, client: ClientId) -> Vec<String> {
        std::iter::from_fn(|| self.next_frame(client)).map(|frame| text(&frame)).collect()
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
