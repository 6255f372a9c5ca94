use crate::{Chubby, Config};

pub(super) struct World(fencepost_testing::World<Chubby>);

fencepost_testing::deref!(World, 0: fencepost_testing::World<Chubby>);

impl World {
    pub(super) fn of(count: usize) -> World {
        let members = fencepost_testing::members(count, 1, 2_000);
        let tap_prefix = Some("lock".to_owned());
        let config = Config { members, seed: 7, tap_prefix, ..Config::default() };
        let start =
            move |me, disk: &_, now| Chubby::new(Config { me, ..config.clone() }, disk, now);
        let mut world = World(fencepost_testing::World::started(count, 1, start));
        world.run(2_000);
        world
    }

    pub(super) fn masters(&self) -> Vec<usize> {
        let is_master = |at: &usize| self.server(*at).is_some_and(|one| one.master.is_some());
        (0..self.hosts.len()).filter(is_master).collect()
    }

    pub(super) fn master(&self) -> usize {
        let masters = self.masters();
        assert_eq!(masters.len(), 1, "{masters:?}");
        masters[0]
    }

    pub(super) fn session(&mut self) -> String {
        let master = self.master();
        let opened = self.ask(master, "open");
        let words: Vec<&str> = opened.split(' ').collect();
        assert_eq!((words[0], words[3]), ("session", "12000000"), "{opened}");
        format!("{} {}", words[1], words[2])
    }

    pub(super) fn keep_alive(&mut self, at: usize, session: &str, seconds: u64) -> bool {
        let mut heard = String::new();
        for _ in 0..seconds {
            let connection = self.connect(at);
            self.send_line(connection, &format!("keepalive {session} 0"));
            self.run(999);
            heard += &self.received(connection);
        }
        heard.contains(" acquired lock")
    }
}
