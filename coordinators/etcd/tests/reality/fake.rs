//! Our server, with a disk whose syncs are done at once.

use super::http::Server;
use fencepost_etcd::{Config, Etcd};
use fencepost_machine::{
    ConnectionId, DiskImage, Input, Machine, MonotonicTime, Now, Output, Outputs, WallTime,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub(crate) struct Fake {
    server: Etcd,
    now: u64,
    next: u32,
    kept: Option<u32>,
    pub(crate) said: BTreeMap<u32, Vec<u8>>,
    closed: BTreeSet<u32>,
}

impl Fake {
    /// A server that leads.
    pub(crate) fn start() -> Fake {
        let server = Etcd::new(Config::default(), &DiskImage::default(), clocks(0));
        let (said, closed) = (BTreeMap::new(), BTreeSet::new());
        let mut fake = Fake { server, now: 0, next: 0, kept: None, said, closed };
        fake.input(Input::Timer);
        fake.now += 2_000_000;
        fake.input(Input::Timer);
        fake.input(Input::Timer);
        fake
    }

    pub(crate) fn connect(&mut self) -> u32 {
        self.next += 1;
        let connection = ConnectionId(self.next);
        self.said.insert(self.next, Vec::new());
        self.input(Input::Accepted { connection, peer: "127.0.0.1:50000" });
        self.next
    }

    pub(crate) fn send(&mut self, id: u32, bytes: &[u8]) {
        self.now += 1_000;
        if !self.closed.contains(&id) {
            self.input(Input::Received { connection: ConnectionId(id), bytes });
        }
    }

    /// The client goes.
    pub(crate) fn hang_up(&mut self, id: u32) {
        self.input(Input::Closed { connection: ConnectionId(id) });
    }

    /// What was said on a connection since the last look.
    pub(crate) fn heard(&mut self, id: u32) -> Vec<u8> {
        let mut said = self.said.get_mut(&id).map(std::mem::take).unwrap_or_default();
        if self.closed.contains(&id) {
            said.extend_from_slice(b"<end>");
        }
        said
    }

    fn input(&mut self, input: Input<'_>) {
        let mut queue = VecDeque::new();
        let mut out = Outputs::default();
        self.server.handle(input, clocks(self.now), &mut out);
        loop {
            for output in out.list.drain(..) {
                match output {
                    Output::Send { connection, bytes } => {
                        self.said.entry(connection.0).or_default().extend_from_slice(&bytes);
                    }
                    Output::Close { connection } | Output::Abort { connection } => {
                        self.closed.insert(connection.0);
                    }
                    Output::DiskSync => queue.push_back(Input::DiskSynced),
                    _ => {}
                }
            }
            let next = if out.more { Some(Input::Continue) } else { queue.pop_front() };
            let Some(next) = next else { return };
            out.clear();
            self.server.handle(next, clocks(self.now), &mut out);
        }
    }
}

impl Server for Fake {
    fn ask_anew(&mut self, bytes: &[u8], _: usize) -> Vec<u8> {
        let connection = self.connect();
        self.send(connection, bytes);
        self.heard(connection)
    }

    fn ask(&mut self, bytes: &[u8]) -> Vec<u8> {
        let kept = self.kept.unwrap_or_else(|| self.connect());
        self.kept = Some(kept);
        self.send(kept, bytes);
        self.heard(kept)
    }
}

fn clocks(now: u64) -> Now {
    let wall = WallTime(1_700_000_000_000_000 + now.cast_signed());
    Now { wall, monotonic: MonotonicTime(now) }
}
