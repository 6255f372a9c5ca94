mod failover;
mod questions;
mod returning;
mod scripted;
mod trouble;

use super::{Address, Sentinel, SentinelConfig};
use crate::world::{ClientId, World};
use scripted::{ScriptedServer, Topology};

const DOWN_AFTER_MS: i64 = 1_000;

struct SentinelDeployment {
    world: World,
    topology: Topology,
    listeners: Vec<ClientId>,
}

fn config(number: usize) -> SentinelConfig {
    let announce = Address::new(format!("sentinel-{number}"), 26379);
    SentinelConfig {
        down_after_ms: DOWN_AFTER_MS,
        failover_timeout_ms: 10_000,
        ..SentinelConfig::new(announce, Address::new("redis-1", 6379))
    }
}

impl SentinelDeployment {
    fn new(servers: usize, sentinels: usize, quorum: usize) -> Self {
        Self::with(servers, sentinels, |config| config.quorum = quorum)
    }

    fn with(servers: usize, sentinels: usize, change: impl Fn(&mut SentinelConfig)) -> Self {
        let (mut world, topology) = (World::new(), Topology::new(servers));
        for number in 1..=servers {
            let name = format!("redis-{number}");
            world.start(&name, ScriptedServer::new(&name, &topology));
        }
        let mut listeners = Vec::new();
        for number in 1..=sentinels {
            let name = format!("sentinel-{number}");
            let mut config = config(number);
            change(&mut config);
            let sentinel = Sentinel::new(config, number as u64, world.wall_time_of(&name));
            world.start(&name, sentinel);
            let listener = world.connect(&name);
            world.send_command(listener, &["PSUBSCRIBE", "*"]);
            listeners.push(listener);
        }
        let mut deployment = Self { world, topology, listeners };
        deployment.world.run_for(20_000);
        deployment
    }

    fn master_at(&mut self, sentinel: usize) -> String {
        let name = format!("sentinel-{sentinel}");
        self.world.ask_text(&name, &["SENTINEL", "get-master-addr-by-name", "mymaster"])
    }

    fn events(&mut self, sentinel: usize) -> Vec<String> {
        let texts = self.world.drain_texts(self.listeners[sentinel - 1]);
        texts
            .iter()
            .filter_map(|text| text.strip_prefix("pmessage * "))
            .map(str::to_owned)
            .collect()
    }

    fn all_events(&mut self) -> Vec<String> {
        (1..=self.listeners.len()).flat_map(|sentinel| self.events(sentinel)).collect()
    }

    fn await_master(&mut self, span_ms: u64, server: &str) {
        let address = format!("{server} 6379");
        let end = self.world.elapsed_ms() + span_ms;
        while (1..=self.listeners.len()).any(|sentinel| self.master_at(sentinel) != address) {
            assert!(
                self.world.elapsed_ms() < end,
                "{server} is not the primary of all after {span_ms} ms"
            );
            self.world.run_for(50);
        }
    }
}

fn count(events: &[String], channel: &str) -> usize {
    events.iter().filter(|event| event.split(' ').next() == Some(channel)).count()
}
