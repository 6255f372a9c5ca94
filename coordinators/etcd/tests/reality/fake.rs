use super::http::Server;
use fencepost_etcd::{Config, Etcd};
use fencepost_testing::Bench;

const STEP_US: u64 = 1_000;
const ELECTION_US: u64 = 2_000_000;

pub(crate) struct Fake {
    bench: Bench<Etcd>,
    kept: Option<u32>,
}

fencepost_testing::deref!(Fake, bench: Bench<Etcd>);

impl Fake {
    pub(crate) fn start() -> Fake {
        let mut bench = Bench::new(|disk, now| Etcd::new(Config::default(), disk, now));
        bench.pass(ELECTION_US);
        Fake { bench, kept: None }
    }

    pub(crate) fn send(&mut self, id: u32, bytes: &[u8]) {
        self.pass(STEP_US);
        if !self.is_closed(id) {
            self.bench.send(id, bytes);
        }
    }

    pub(crate) fn received(&mut self, id: u32) -> Vec<u8> {
        let mut said = self.take(id);
        if self.is_closed(id) {
            said.extend_from_slice(b"<end>");
        }
        said
    }
}

impl Server for Fake {
    fn ask_on_new_connection(&mut self, bytes: &[u8], _: usize) -> Vec<u8> {
        let connection = self.connect();
        self.send(connection, bytes);
        self.received(connection)
    }

    fn ask(&mut self, bytes: &[u8]) -> Vec<u8> {
        let kept = self.kept.unwrap_or_else(|| self.connect());
        self.kept = Some(kept);
        self.send(kept, bytes);
        self.received(kept)
    }
}
