use crate::{Config, Mysql};
use fencepost_testing::Bench;

pub(super) struct World(Bench<Mysql>);

fencepost_testing::deref!(World, 0: Bench<Mysql>);

pub(super) fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    let length = body.len() as u32;
    [&length.to_le_bytes()[..3], &[number], body].concat()
}

pub(super) fn query(sql: &str) -> Vec<u8> {
    packet(0, &[b"\x03", sql.as_bytes()].concat())
}

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
        World(Bench::new(|disk, _| Mysql::new(config, disk)))
    }

    pub(super) fn start_again(&mut self, config: Config) {
        self.restart(|disk, _| Mysql::new(config, disk));
    }

    pub(super) fn session(&mut self) -> u32 {
        let id = self.connect();
        self.send(id, &login());
        self.take(id);
        id
    }

    pub(super) fn ask(&mut self, id: u32, sql: &str) -> String {
        self.send(id, &query(sql));
        self.take_words(id)
    }
}
