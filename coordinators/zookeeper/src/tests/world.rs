use crate::{Config, ZooKeeper};
use bytes::Bytes;
use fencepost_machine::ConnectionId;

pub(super) use fencepost_testing::End;

pub(super) struct World(fencepost_testing::World<ZooKeeper>);

fencepost_testing::deref!(World, 0: fencepost_testing::World<ZooKeeper>);

impl World {
    pub(super) fn of(count: usize, config: Config) -> World {
        let members = fencepost_testing::members(count, 0, 2_181);
        let config = Config { members, ..config };
        let start =
            move |me, disk: &_, now| ZooKeeper::new(Config { me, ..config.clone() }, disk, now);
        World(fencepost_testing::World::started(count, 0, start))
    }

    pub(super) fn at_server(&self, connection: ConnectionId) -> Option<ConnectionId> {
        self.peers.get(&End { host: None, connection }).map(|end| end.connection)
    }

    pub(super) fn is_closed(&self, connection: ConnectionId) -> bool {
        self.closed.contains(&End { host: None, connection })
    }

    pub(super) fn frame(&mut self, _: usize, connection: ConnectionId, ms: u64) -> Option<Bytes> {
        let end = End { host: None, connection };
        for _ in 0..=ms {
            if let Some(inbox) = self.inboxes.get_mut(&end)
                && let Some(length) = inbox.first_chunk::<4>()
            {
                let length = u32::from_be_bytes(*length) as usize;
                let frame = inbox.split_to(4 + length).freeze();
                return Some(frame.slice(4..));
            }
            if self.closed.contains(&end) {
                return None;
            }
            self.run(1);
        }
        None
    }

    pub(super) fn count(&self) -> usize {
        self.hosts.len()
    }

    pub(super) fn is_paused(&self, host: usize) -> bool {
        self.hosts[host].is_paused
    }
}
