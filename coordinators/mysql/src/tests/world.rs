//! A server with sessions, and clocks that are moved by hand.

use crate::{Config, Mysql};
use fencepost_machine::wording::Speaker;
use fencepost_machine::{
    ConnectionId, Disk, DiskImage, Input, Machine, MonotonicTime, Now, Output, Outputs, TapEvent,
    WallTime,
};
use std::collections::BTreeMap;

pub(super) struct World {
    pub(super) server: Mysql,
    /// What the judge was told since that was last asked.
    pub(super) taps: Vec<TapEvent>,
    now: u64,
    wall: i64,
    next: u32,
    said: BTreeMap<u32, Vec<u8>>,
    pub(super) closed: Vec<u32>,
    /// How many syncs of the disk are to be done, and whether they are not done yet.
    syncs: u32,
    pub(super) holds_syncs: bool,
    disk: Disk,
    /// When the server wants to be woken.
    wakes: Option<u64>,
}

/// A packet of a client.
pub(super) fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    let length = body.len() as u32;
    [&length.to_le_bytes()[..3], &[number], body].concat()
}

pub(super) fn query(sql: &str) -> Vec<u8> {
    packet(0, &[b"\x03", sql.as_bytes()].concat())
}

/// What root says of itself. It has no password.
pub(super) fn login() -> Vec<u8> {
    let capabilities: u32 = 1 << 9 | 1 << 15;
    let head = [&capabilities.to_le_bytes()[..], &[0, 0, 0, 1, 45], &[0; 23]].concat();
    packet(1, &[&head[..], b"root\0\0"].concat())
}

impl World {
    pub(super) fn new() -> World {
        World::of(Config::default())
    }

    pub(super) fn of(config: Config) -> World {
        let mut world = World {
            server: Mysql::new(config, &DiskImage::default()),
            taps: Vec::new(),
            now: 0,
            wall: 1_700_000_000_000_000,
            next: 0,
            said: BTreeMap::new(),
            closed: Vec::new(),
            syncs: 0,
            holds_syncs: false,
            disk: Disk::default(),
            wakes: None,
        };
        world.input(Input::Timer);
        world
    }

    /// Another process, which finds what is on the disk. Nobody is connected to it.
    pub(super) fn start_again(&mut self, config: Config) {
        self.server = Mysql::new(config, &self.disk.image());
        self.input(Input::Timer);
    }

    pub(super) fn step_wall_clock(&mut self, micros: i64) {
        self.wall += micros;
    }

    fn input(&mut self, input: Input<'_>) {
        let (mut out, mut next) = (Outputs::default(), Some(input));
        while let Some(input) = next.take() {
            out.clear();
            let wall = WallTime(self.wall + self.now as i64);
            let now = Now { wall, monotonic: MonotonicTime(self.now) };
            self.server.handle(input, now, &mut out);
            self.wakes = None;
            for output in out.list.drain(..) {
                self.disk.apply(&output);
                match output {
                    Output::Send { connection, bytes } => {
                        self.said.entry(connection.0).or_default().extend_from_slice(&bytes);
                    }
                    Output::Close { connection } => self.closed.push(connection.0),
                    Output::Tap(tap) => self.taps.push(tap),
                    Output::DiskSync => self.syncs += 1,
                    Output::WakeAfter { micros } => self.wakes = Some(self.now + micros),
                    _ => {}
                }
            }
            next = match self.syncs {
                _ if self.holds_syncs => None,
                0 => out.more.then_some(Input::Continue),
                _ => Some(Input::DiskSynced),
            };
            self.syncs -= u32::from(self.syncs > 0 && !self.holds_syncs);
        }
    }

    /// Lets time pass, waking the server whenever it wanted.
    pub(super) fn pass(&mut self, micros: u64) {
        let end = self.now + micros;
        while let Some(at) = self.wakes.filter(|at| *at <= end) {
            self.now = at;
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
        self.send(id, &login());
        self.said.remove(&id);
        id
    }

    pub(super) fn send(&mut self, id: u32, bytes: &[u8]) {
        self.input(Input::Received { connection: ConnectionId(id), bytes });
    }

    pub(super) fn close(&mut self, id: u32) {
        self.input(Input::Closed { connection: ConnectionId(id) });
    }

    /// The bytes that were said to a session since that was last asked.
    pub(super) fn bytes(&mut self, id: u32) -> Vec<u8> {
        self.said.remove(&id).unwrap_or_default()
    }

    /// The same in words; empty while it waits.
    pub(super) fn said(&mut self, id: u32) -> String {
        let said = self.bytes(id);
        let wording = self.server.wording();
        wording(Speaker::Server, &said)
    }

    pub(super) fn ask(&mut self, id: u32, sql: &str) -> String {
        self.send(id, &query(sql));
        self.said(id)
    }
}
