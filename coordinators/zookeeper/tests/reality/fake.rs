use crate::world::{End, World};
use bytes::Bytes;
use fencepost_machine::ConnectionId;
use fencepost_zookeeper::Config;

const PATIENCE_MS: u64 = 20_000;

pub(crate) struct Fake(pub(crate) World);

impl Fake {
    pub(crate) fn alone(tick_ms: u64) -> Fake {
        Fake(World::of(1, Config { tick_ms, ..Config::default() }))
    }

    pub(crate) fn connect(&mut self) -> ConnectionId {
        self.0.connect(0)
    }

    pub(crate) fn send(&mut self, connection: ConnectionId, bytes: &[u8]) {
        self.0.send(0, connection, &Bytes::copy_from_slice(bytes));
    }

    pub(crate) fn frame(&mut self, connection: ConnectionId) -> Option<Vec<u8>> {
        let frame = self.0.frame(0, connection, PATIENCE_MS);
        assert!(frame.is_some() || self.0.is_closed(connection), "our server does not answer");
        frame.map(|frame| frame.to_vec())
    }

    fn unread(&self, connection: ConnectionId) -> usize {
        self.0.inboxes.get(&End { host: None, connection }).map_or(0, |inbox| inbox.len())
    }

    pub(crate) fn is_silent(&mut self, connection: ConnectionId, ms: u64) -> bool {
        (0..ms).all(|_| {
            self.0.run(1);
            self.unread(connection) == 0 && !self.0.is_closed(connection)
        })
    }

    pub(crate) fn rest(&mut self, connection: ConnectionId) -> Option<Vec<u8>> {
        let is_open = |world: &World| !world.is_closed(connection);
        if (0..PATIENCE_MS).all(|_| {
            self.0.run(1);
            is_open(&self.0)
        }) {
            return None;
        }
        let inbox = self.0.inboxes.remove(&End { host: None, connection });
        Some(inbox.unwrap_or_default().to_vec())
    }
}
