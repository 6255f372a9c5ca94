//! A server with sessions, a clock that is moved by hand, and a disk that syncs when it is told to.

use crate::{Config, Postgresql};
use fencepost_machine::{
    ConnectionId, Disk, DiskReply, Input, Machine, MonotonicTime, Now, Output, Outputs, TapEvent,
    WallTime,
};
use std::collections::BTreeMap;

pub(super) struct World {
    pub(super) server: Postgresql,
    config: Config,
    /// What the judge was told since that was last asked.
    pub(super) taps: Vec<TapEvent>,
    pub(super) disk: Disk,
    now: u64,
    wall: i64,
    next: u32,
    said: BTreeMap<u32, Vec<u8>>,
    pub(super) closed: Vec<u32>,
    /// The connections that the server wants to open.
    pub(super) asked: Vec<ConnectionId>,
    /// When the server wants to be woken.
    wakes: Option<u64>,
    /// Whether a sync is done at once.
    pub(super) syncs_at_once: bool,
    syncing: usize,
}

fn config() -> Config {
    let schema = "CREATE TABLE t (k int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1)";
    Config { schema: schema.to_owned(), ..Config::default() }
}

pub(super) fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &((body.len() + 4) as u32).to_be_bytes(), body].concat()
}

pub(super) fn query(sql: &str) -> Vec<u8> {
    message(b'Q', &[sql.as_bytes(), b"\0"].concat())
}

pub(super) fn startup() -> Vec<u8> {
    let body = b"\0\x03\0\0user\0me\0\0";
    [&((body.len() + 4) as u32).to_be_bytes()[..], body].concat()
}

impl World {
    pub(super) fn new() -> World {
        World::of(config())
    }

    pub(super) fn of(config: Config) -> World {
        let disk = Disk::default();
        let server = Postgresql::new(config.clone(), &disk.image(), Now::default());
        let mut world = World {
            server,
            config,
            taps: Vec::new(),
            disk,
            now: 0,
            wall: 1_700_000_000_000_000,
            next: 0,
            said: BTreeMap::new(),
            closed: Vec::new(),
            asked: Vec::new(),
            wakes: None,
            syncs_at_once: true,
            syncing: 0,
        };
        world.input(Input::Timer);
        world
    }

    fn clocks(&self) -> Now {
        Now { wall: WallTime(self.wall + self.now as i64), monotonic: MonotonicTime(self.now) }
    }

    pub(super) fn step_wall_clock(&mut self, micros: i64) {
        self.wall += micros;
    }

    pub(super) fn input(&mut self, input: Input<'_>) {
        let (mut out, mut next) = (Outputs::default(), Some(input));
        while let Some(input) = next.take() {
            out.clear();
            let now = self.clocks();
            self.server.handle(input, now, &mut out);
            for output in out.list.drain(..) {
                if self.disk.apply(&output) == DiskReply::Sync {
                    self.syncing += 1;
                }
                match output {
                    Output::Send { connection, bytes } => {
                        self.said.entry(connection.0).or_default().extend_from_slice(&bytes);
                    }
                    Output::Close { connection } => self.closed.push(connection.0),
                    Output::Connect { connection, .. } => self.asked.push(connection),
                    Output::Tap(tap) => self.taps.push(tap),
                    Output::WakeAfter { micros } => self.wakes = Some(self.now + micros),
                    _ => {}
                }
            }
            if out.more {
                next = Some(Input::Continue);
            } else if self.syncs_at_once && self.syncing > 0 {
                next = Some(self.synced());
            }
        }
    }

    fn synced(&mut self) -> Input<'static> {
        self.syncing -= 1;
        self.disk.finish_sync();
        Input::DiskSynced
    }

    pub(super) fn finish_sync(&mut self) {
        let input = self.synced();
        self.input(input);
    }

    /// Lets time pass, waking the server whenever it wanted.
    pub(super) fn pass(&mut self, micros: u64) {
        let end = self.now + micros;
        while let Some(at) = self.wakes.filter(|at| *at <= end) {
            (self.now, self.wakes) = (at, None);
            self.input(Input::Timer);
        }
        self.now = end;
    }

    pub(super) fn connect(&mut self) -> u32 {
        self.next += 1;
        let connection = ConnectionId(self.next);
        self.input(Input::Accepted { connection, peer: "client-1:40000" });
        self.next
    }

    pub(super) fn session(&mut self) -> u32 {
        let id = self.connect();
        self.send(id, &startup());
        self.said.remove(&id);
        id
    }

    pub(super) fn send(&mut self, id: u32, bytes: &[u8]) {
        self.input(Input::Received { connection: ConnectionId(id), bytes });
    }

    pub(super) fn close(&mut self, id: u32) {
        self.input(Input::Closed { connection: ConnectionId(id) });
    }

    /// What was said to a session since that was last asked, in words; empty while it waits.
    pub(super) fn said(&mut self, id: u32) -> String {
        let said = self.said.remove(&id).unwrap_or_default();
        let wording = self.server.wording();
        wording(fencepost_machine::wording::Speaker::Server, &said)
    }

    /// The bytes that were said to a session.
    pub(super) fn bytes(&mut self, id: u32) -> Vec<u8> {
        self.said.remove(&id).unwrap_or_default()
    }

    pub(super) fn ask(&mut self, id: u32, sql: &str) -> String {
        self.send(id, &query(sql));
        self.said(id)
    }

    /// A new process on the same disk; nobody is connected to it.
    pub(super) fn restart(&mut self) {
        self.syncing = 0;
        self.said.clear();
        let image = self.disk.image();
        self.server = Postgresql::new(self.config.clone(), &image, self.clocks());
        self.input(Input::Timer);
    }
}
