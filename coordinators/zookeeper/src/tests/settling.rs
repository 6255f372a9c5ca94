use super::world::World;
use crate::config::Config;
use crate::server::{Role, ZooKeeper};

impl World {
    pub(super) fn new(count: usize) -> World {
        World::of(count, Config { tap_prefix: Some("orders".to_owned()), ..Config::default() })
    }

    fn awake(&self) -> impl Iterator<Item = usize> {
        (0..self.count()).filter(|host| !self.is_paused(*host))
    }

    pub(super) fn leader(&self) -> Option<usize> {
        let leads = |host: &usize| {
            self.server(*host).is_some_and(|server| {
                matches!(server.role, Role::Leading(_)) && server.is_serving()
            })
        };
        self.awake().find(leads)
    }

    #[track_caller]
    pub(super) fn settle(&mut self, serving: usize) -> usize {
        for _ in 0..1_200 {
            let is_serving = |host: &usize| self.server(*host).is_some_and(ZooKeeper::is_serving);
            let count = self.awake().filter(is_serving).count();
            if let Some(leader) = self.leader().filter(|_| count >= serving) {
                return leader;
            }
            self.run(100);
        }
        panic!("no leader with {serving} servers in two minutes");
    }
}
