use crate::{Config, GemFire};
use fencepost_machine::ConnectionId;
use std::collections::BTreeMap;

pub(super) struct World {
    world: fencepost_testing::World<GemFire>,
    beats: BTreeMap<(String, usize), ConnectionId>,
    held: BTreeMap<String, String>,
    answers: BTreeMap<(String, usize), String>,
}

fencepost_testing::deref!(World, world: fencepost_testing::World<GemFire>);

impl World {
    pub(super) fn of(count: usize) -> World {
        let config = Config {
            servers: fencepost_testing::members(count, 1, 2_000),
            member_timeout_us: 2_000_000,
            tap_prefix: Some("lock".to_owned()),
            ..Config::default()
        };
        let start = move |me, _: &_, now| GemFire::new(Config { me, ..config.clone() }, now);
        let world = fencepost_testing::World::started(count, 1, start);
        let (beats, held, answers) = Default::default();
        let mut world = World { world, beats, held, answers };
        world.run(1_500);
        world
    }

    pub(super) fn view(&self, at: usize) -> Vec<u8> {
        let view = self.server(at).and_then(|server| server.membership.view.as_ref());
        view.map(|view| view.servers.iter().map(|life| life.id).collect()).unwrap_or_default()
    }

    pub(super) fn numbers(&self, at: usize) -> (u64, u64) {
        let view = self.server(at).unwrap().membership.view.as_ref().unwrap();
        (view.number, view.grantor.unwrap().version)
    }

    pub(super) fn grantor(&self) -> Option<usize> {
        let grants = |at: &usize| {
            let grantor = self.server(*at).and_then(|server| server.grantor.as_ref());
            grantor.is_some_and(|grantor| !grantor.is_recovering())
        };
        (0..self.hosts.len()).find(grants)
    }

    pub(super) fn begin(&mut self, at: usize, line: &str) -> ConnectionId {
        let connection = self.connect(at);
        self.send_line(connection, line);
        connection
    }

    pub(super) fn join(&mut self, process: &str) {
        let joined = self.ask(0, &format!("join {process}"));
        assert!(joined.starts_with("joined ") && joined.ends_with(" 2000000"), "{joined}");
    }

    pub(super) fn holds(&mut self, process: &str, held: &str) {
        self.held.insert(process.to_owned(), held.to_owned());
    }

    pub(super) fn beat(&mut self, processes: &[&str], span_ms: u64) {
        for _ in 0..span_ms / 100 {
            self.send_heartbeats_for(processes, 100);
        }
    }

    pub(super) fn send_heartbeats_for(&mut self, processes: &[&str], span_ms: u64) {
        for process in processes {
            for at in 0..self.hosts.len() {
                self.send_heartbeat(process, at);
            }
        }
        self.run(span_ms);
    }

    pub(super) fn end(&mut self, process: &str) {
        for at in 0..self.hosts.len() {
            if let Some(connection) = self.beats.remove(&(process.to_owned(), at)) {
                self.hang_up(connection);
            }
        }
    }

    fn send_heartbeat(&mut self, process: &str, at: usize) {
        let key = (process.to_owned(), at);
        let connection = match self.beats.get(&key) {
            Some(connection) => *connection,
            None => self.connect(at),
        };
        let is_new = self.beats.insert(key.clone(), connection).is_none();
        let heard = self.received(connection);
        if heard.is_empty() && !is_new {
            return;
        }
        let held = self.held.get(process).cloned().unwrap_or_default();
        let view = self.server(at).and_then(|server| server.membership.view.as_ref());
        let (system, number) = view.map_or((0, 0), |view| (view.system, view.number));
        self.answers.insert(key, heard);
        self.send_line(connection, &format!("alive {process} {system} {number} {held}"));
    }

    pub(super) fn answer(&self, process: &str, at: usize) -> &str {
        self.answers.get(&(process.to_owned(), at)).map_or("", String::as_str)
    }

    pub(super) fn lock(&mut self, process: &str, words: &str) -> ConnectionId {
        let at = self.grantor().unwrap();
        let version = self.numbers(at).1;
        self.begin(at, &format!("lock {process} {version} {words}"))
    }

    pub(super) fn unlock(&mut self, process: &str, words: &str) -> String {
        let at = self.grantor().unwrap();
        let version = self.numbers(at).1;
        self.ask(at, &format!("unlock {process} {version} {words}"))
    }
}
