use crate::{Config, Etcd};
use fencepost_machine::ConnectionId;
use fencepost_testing::End;

pub(super) struct World(fencepost_testing::World<Etcd>);

fencepost_testing::deref!(World, 0: fencepost_testing::World<Etcd>);

impl World {
    pub(super) fn of(count: usize, config: Config) -> World {
        let members = fencepost_testing::members(count, 1, 2_379);
        let config = Config { members, ..config };
        let start = move |me, disk: &_, now| Etcd::new(Config { me, ..config.clone() }, disk, now);
        World(fencepost_testing::World::started(count, 1, start))
    }

    pub(super) fn received(&mut self, connection: ConnectionId) -> String {
        let inbox = self.inboxes.remove(&End { host: None, connection });
        String::from_utf8_lossy(&inbox.unwrap_or_default()).into_owned()
    }

    pub(super) fn ask(&mut self, at: usize, (path, body): (&str, &str), ms: u64) -> String {
        let connection = self.connect(at);
        self.post(connection, path, body);
        self.run(ms);
        let heard = self.received(connection);
        self.hang_up(connection);
        heard
    }

    pub(super) fn post(&mut self, connection: ConnectionId, path: &str, body: &str) {
        let head = format!("POST /v3/{path} HTTP/1.1\r\nHost: a\r\nContent-Length: ");
        let bytes = format!("{head}{}\r\n\r\n{body}", body.len());
        self.send(0, connection, &bytes.into());
    }
}
