use super::messages::{is_whole, startup};
use fencepost_postgresql::{Config, Postgresql};
use fencepost_testing::Bench;

const STEP_US: u64 = 1_000;

pub(crate) struct Fake(Bench<Postgresql>);

fencepost_testing::deref!(Fake, 0: Bench<Postgresql>);

impl Fake {
    pub(crate) fn start() -> Fake {
        Fake::of(Config::default())
    }

    pub(crate) fn of(config: Config) -> Fake {
        Fake(Bench::new(|disk, now| Postgresql::new(config, disk, now)))
    }

    pub(crate) fn session(&mut self) -> u32 {
        let id = self.connect();
        self.send(id, &startup());
        id
    }

    pub(crate) fn send(&mut self, id: u32, bytes: &[u8]) {
        self.pass(STEP_US);
        self.0.send(id, bytes);
    }

    pub(crate) fn answer(&mut self, id: u32) -> Option<Vec<u8>> {
        let is_answered = is_whole(self.unread(id)) || self.is_closed(id);
        is_answered.then(|| self.take(id))
    }
}
