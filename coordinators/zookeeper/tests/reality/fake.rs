//! Our server, driven as fast as it goes: its disk is never busy, and time passes only when it is
//! told to.

use fencepost_machine::{ConnectionId, Disk, DiskReply, Input, Machine, MonotonicTime, Now};
use fencepost_machine::{Output, Outputs, WallTime};
use fencepost_zookeeper::{Config, ZooKeeper};
use std::collections::BTreeMap;

/// A server with its connections.
pub(crate) struct Fake {
    server: ZooKeeper,
    disk: Disk,
    now_ms: u64,
    next: u32,
    received: BTreeMap<ConnectionId, Vec<u8>>,
    closed: Vec<ConnectionId>,
}

impl Fake {
    pub(crate) fn alone(tick_ms: u64) -> Fake {
        let config = Config { tick_ms, ..Config::default() };
        let now_ms = 1_700_000_000_000;
        let disk = Disk::default();
        let mut fake = Fake {
            server: ZooKeeper::new(config, &disk.image(), clocks(now_ms)),
            disk,
            now_ms,
            next: 0,
            received: BTreeMap::new(),
            closed: Vec::new(),
        };
        fake.input(Input::Timer);
        fake
    }

    fn input(&mut self, input: Input<'_>) {
        let mut out = Outputs::default();
        self.server.handle(input, clocks(self.now_ms), &mut out);
        loop {
            let mut synced = 0;
            for output in out.list.drain(..) {
                synced += usize::from(self.disk.apply(&output) == DiskReply::Sync);
                match output {
                    Output::Send { connection, bytes } => {
                        self.received.entry(connection).or_default().extend_from_slice(&bytes);
                    }
                    Output::Close { connection } => self.closed.push(connection),
                    _ => {}
                }
            }
            let more = out.more;
            out.clear();
            if synced > 0 {
                self.disk.finish_sync();
                self.server.handle(Input::DiskSynced, clocks(self.now_ms), &mut out);
            } else if more {
                self.server.handle(Input::Continue, clocks(self.now_ms), &mut out);
            } else {
                return;
            }
        }
    }

    pub(crate) fn connect(&mut self) -> ConnectionId {
        let connection = ConnectionId(self.next);
        self.next += 1;
        self.input(Input::Accepted { connection, peer: "127.0.0.1:40000" });
        connection
    }

    pub(crate) fn send(&mut self, connection: ConnectionId, bytes: &[u8]) {
        if !self.closed.contains(&connection) {
            self.input(Input::Received { connection, bytes });
        }
    }

    /// The next frame; `None` once the server has closed the connection.
    pub(crate) fn frame(&mut self, connection: ConnectionId) -> Option<Vec<u8>> {
        let received = self.received.entry(connection).or_default();
        if received.is_empty() {
            assert!(self.closed.contains(&connection), "our server does not answer");
            return None;
        }
        let length = u32::from_be_bytes(received[..4].try_into().unwrap()) as usize;
        let frame = received[4..4 + length].to_vec();
        received.drain(..4 + length);
        Some(frame)
    }

    pub(crate) fn is_closed(&self, connection: ConnectionId) -> bool {
        self.closed.contains(&connection)
    }

    pub(crate) fn rest(&mut self, connection: ConnectionId) -> Vec<u8> {
        self.received.remove(&connection).unwrap_or_default()
    }
}

fn clocks(now_ms: u64) -> Now {
    let wall = WallTime(i64::try_from(now_ms * 1_000).unwrap());
    Now { wall, monotonic: MonotonicTime(now_ms * 1_000) }
}
