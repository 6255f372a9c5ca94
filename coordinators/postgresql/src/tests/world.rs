use crate::{Config, Postgresql};
use fencepost_testing::Bench;

pub(super) struct World {
    bench: Bench<Postgresql>,
    config: Config,
}

fencepost_testing::deref!(World, bench: Bench<Postgresql>);

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
    startup_with("")
}

pub(super) fn startup_with(more: &str) -> Vec<u8> {
    let body = [b"\0\x03\0\0user\0me\0", more.as_bytes(), b"\0"].concat();
    [&((body.len() + 4) as u32).to_be_bytes()[..], &body].concat()
}

impl World {
    pub(super) fn new() -> World {
        World::of(config())
    }

    pub(super) fn of(config: Config) -> World {
        let bench = Bench::new(|disk, now| Postgresql::new(config.clone(), disk, now));
        World { bench, config }
    }

    pub(super) fn session(&mut self) -> u32 {
        let id = self.connect();
        self.send(id, &startup());
        self.take(id);
        id
    }

    pub(super) fn ask(&mut self, id: u32, sql: &str) -> String {
        self.send(id, &query(sql));
        self.take_words(id)
    }

    pub(super) fn restart(&mut self) {
        let config = self.config.clone();
        self.bench.restart(|disk, now| Postgresql::new(config, disk, now));
    }
}
