//! Our server, with a disk whose syncs are done at once.

use super::messages::{is_whole, startup};
use fencepost_machine::{
    ConnectionId, DiskImage, Input, Machine, MonotonicTime, Now, Output, Outputs, WallTime,
};
use fencepost_postgresql::{Config, Postgresql};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub(crate) struct Fake {
    server: Postgresql,
    now: u64,
    next: u32,
    pub(crate) said: BTreeMap<u32, Vec<u8>>,
    /// Whose connections it has closed.
    pub(crate) closed: BTreeSet<u32>,
    /// The connections that it wants to open.
    pub(crate) asked: Vec<ConnectionId>,
}

impl Fake {
    pub(crate) fn start() -> Fake {
        Fake::of(Config::default())
    }

    pub(crate) fn of(config: Config) -> Fake {
        let image = DiskImage::default();
        let server = Postgresql::new(config, &image, clocks(0));
        let (said, closed) = (BTreeMap::new(), BTreeSet::new());
        let mut fake = Fake { server, now: 0, next: 0, said, closed, asked: Vec::new() };
        fake.input(Input::Timer);
        fake
    }

    /// A connection that has said nothing yet.
    pub(crate) fn connect(&mut self) -> u32 {
        self.next += 1;
        let connection = ConnectionId(self.next);
        self.said.insert(self.next, Vec::new());
        self.input(Input::Accepted { connection, peer: "127.0.0.1:50000" });
        self.next
    }

    /// A session that is ready.
    pub(crate) fn session(&mut self) -> u32 {
        let id = self.connect();
        self.send(id, &startup());
        id
    }

    pub(crate) fn send(&mut self, id: u32, bytes: &[u8]) {
        self.now += 1_000;
        self.input(Input::Received { connection: ConnectionId(id), bytes });
    }

    /// What was said to a session, if that is a whole answer.
    pub(crate) fn answer(&mut self, id: u32) -> Option<Vec<u8>> {
        let is_closed = self.closed.contains(&id);
        let said = self.said.get_mut(&id)?;
        (is_whole(said) || is_closed).then(|| std::mem::take(said))
    }

    /// Lets time pass, so that deadlocks are found.
    pub(crate) fn pass(&mut self, micros: u64) {
        self.now += micros;
        self.input(Input::Timer);
    }

    pub(crate) fn input(&mut self, input: Input<'_>) {
        let mut queue = VecDeque::new();
        let mut out = Outputs::default();
        self.server.handle(input, clocks(self.now), &mut out);
        loop {
            for output in out.list.drain(..) {
                match output {
                    Output::Send { connection, bytes } => {
                        self.said.entry(connection.0).or_default().extend_from_slice(&bytes);
                    }
                    Output::Close { connection } => drop(self.closed.insert(connection.0)),
                    Output::Connect { connection, .. } => self.asked.push(connection),
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

fn clocks(now: u64) -> Now {
    let wall = WallTime(1_700_000_000_000_000 + now as i64);
    Now { wall, monotonic: MonotonicTime(now) }
}
