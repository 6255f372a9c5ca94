use super::packets::{is_whole, root};
use fencepost_mysql::{Config, Mysql};
use fencepost_testing::Bench;

const STEP_US: u64 = 10;

pub(crate) struct Fake(Bench<Mysql>);

fencepost_testing::deref!(Fake, 0: Bench<Mysql>);

impl Fake {
    pub(crate) fn start(next_session: u32) -> Fake {
        let mut fake = Fake(Bench::new(|disk, _| Mysql::new(Config::default(), disk)));
        fake.peer = "127.0.0.1:50000";
        for _ in 3..next_session {
            let id = fake.connect();
            fake.hang_up(id);
        }
        fake
    }

    pub(crate) fn connect(&mut self) -> u32 {
        let id = self.0.connect();
        self.take(id);
        id
    }

    pub(crate) fn session(&mut self) -> u32 {
        let id = self.connect();
        self.send(id, &root());
        self.take(id);
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
