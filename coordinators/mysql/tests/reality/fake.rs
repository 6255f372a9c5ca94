//! Our server, with clocks that are moved by hand.

use super::packets::{is_whole, root};
use fencepost_machine::{
    ConnectionId, DiskImage, Input, Machine, MonotonicTime, Now, Output, Outputs, WallTime,
};
use fencepost_mysql::{Config, Mysql};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct Fake {
    server: Mysql,
    now: u64,
    next: u32,
    pub(crate) said: BTreeMap<u32, Vec<u8>>,
    /// Whose connections it has closed.
    pub(crate) closed: BTreeSet<u32>,
}

impl Fake {
    /// A server whose next session has that number.
    pub(crate) fn start(next_session: u32) -> Fake {
        let server = Mysql::new(Config::default(), &DiskImage::default());
        let (said, closed) = (BTreeMap::new(), BTreeSet::new());
        let mut fake = Fake { server, now: 0, next: 0, said, closed };
        fake.input(Input::Timer);
        for _ in 3..next_session {
            let connection = ConnectionId(0);
            fake.input(Input::Accepted { connection, peer: "127.0.0.1:1" });
            fake.input(Input::Closed { connection });
        }
        fake.said.clear();
        fake
    }

    /// A connection that has been greeted.
    pub(crate) fn connect(&mut self) -> u32 {
        self.next += 1;
        let connection = ConnectionId(self.next);
        self.input(Input::Accepted { connection, peer: "127.0.0.1:50000" });
        self.said.insert(self.next, Vec::new());
        self.next
    }

    /// A session that is ready.
    pub(crate) fn session(&mut self) -> u32 {
        let id = self.connect();
        self.send(id, &root());
        self.said.insert(id, Vec::new());
        id
    }

    pub(crate) fn send(&mut self, id: u32, bytes: &[u8]) {
        self.now += 10;
        self.input(Input::Received { connection: ConnectionId(id), bytes });
    }

    pub(crate) fn close(&mut self, id: u32) {
        self.input(Input::Closed { connection: ConnectionId(id) });
    }

    /// What was said to a session, if that is a whole answer.
    pub(crate) fn answer(&mut self, id: u32) -> Option<Vec<u8>> {
        let is_closed = self.closed.contains(&id);
        let said = self.said.get_mut(&id)?;
        (is_whole(said) || is_closed).then(|| std::mem::take(said))
    }

    /// Lets time pass.
    pub(crate) fn pass(&mut self, micros: u64) {
        self.now += micros;
        self.input(Input::Timer);
    }

    fn input(&mut self, input: Input<'_>) {
        let mut out = Outputs::default();
        let wall = WallTime(1_700_000_000_000_000 + self.now as i64);
        let now = Now { wall, monotonic: MonotonicTime(self.now) };
        self.server.handle(input, now, &mut out);
        let mut syncs: u32 = 0;
        loop {
            for output in out.list.drain(..) {
                match output {
                    Output::Send { connection, bytes } => {
                        self.said.entry(connection.0).or_default().extend_from_slice(&bytes);
                    }
                    Output::Close { connection } => drop(self.closed.insert(connection.0)),
                    Output::DiskSync => syncs += 1,
                    _ => {}
                }
            }
            let input = match (syncs, out.more) {
                (1.., _) => Input::DiskSynced,
                (0, true) => Input::Continue,
                (0, false) => return,
            };
            syncs -= u32::from(syncs > 0);
            out.clear();
            self.server.handle(input, now, &mut out);
        }
    }
}
