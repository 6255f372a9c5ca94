//! Real Redis servers and Sentinels.

mod console;
mod work;

use super::kind::{FOLDER, Kind, Recipe, command};
use super::{RealSetup, RealWorld};
use crate::setup::scenario::Persistence;
use console::RedisConsole;
pub(crate) use console::typed;
use fencepost_clients::Coordinator;
use fencepost_faults::setting::Topology;
use fencepost_faults::{Micros, Node};
use rand_core::Rng;
use std::fmt::Write;

const PORT: u16 = 6379;
const SENTINEL_PORT: u16 = 26379;
const MASTER_NAME: &str = "mymaster";
const BOOT: Micros = Micros::from_millis(50);

pub(super) const KIND: Kind = Kind {
    coordinator: Coordinator::Redis,
    program: "redis-server",
    expected: "a Redis, Valkey or KeyDB server",
    version: |path| command(&[path, "--version"]),
    name_and_version,
    template: None,
    recipe,
    console: |part| Box::new(RedisConsole::of(part)),
};

fn name_and_version(said: &str) -> Option<(String, String)> {
    let (name, rest) = said.trim().split_once(" server v=")?;
    let version = rest.split_whitespace().next()?;
    let is_one = !name.contains('\n') && version.starts_with(|it: char| it.is_ascii_digit());
    is_one.then(|| (name.to_owned(), version.to_owned()))
}

fn recipe(setup: &RealSetup<'_>, node: Node) -> Recipe {
    let path = setup.binary.path.as_str();
    let (name, port, configuration) = match node {
        Node::Sentinel(_) => ("sentinel.conf", SENTINEL_PORT, sentinel(setup, node)),
        _ => ("redis.conf", PORT, redis(setup, node)),
    };
    let mut command = command(&[path, &format!("{FOLDER}/{name}")]);
    if matches!(node, Node::Sentinel(_)) {
        command.push("--sentinel".to_owned());
    }
    let files = vec![(name, configuration)];
    Recipe { command, files, port, boot: BOOT, ..Recipe::default() }
}

fn address(world: &RealWorld, node: Node) -> String {
    let found = world.addresses.get(&node.to_string());
    found.map_or_else(|| node.to_string(), ToString::to_string)
}

fn redis(setup: &RealSetup<'_>, node: Node) -> String {
    let scenario = setup.scenario;
    let mut text = format!("port {PORT}\nbind 0.0.0.0\nprotected-mode no\n");
    text += match scenario.servers.persistence {
        // A replica must also delete the snapshot that its primary sent.
        Persistence::None if setup.binary.major() >= 6 => "save \"\"\nrdb-del-sync-files yes\n",
        Persistence::None => "save \"\"\n",
        Persistence::Rdb => "save 3600 1\nsave 300 100\nsave 60 10000\n",
        Persistence::AofEverysec => "save \"\"\nappendonly yes\nappendfsync everysec\n",
        Persistence::AofAlways => "save \"\"\nappendonly yes\nappendfsync always\n",
    };
    if scenario.servers.min_replicas > 0 {
        let _ = writeln!(text, "min-replicas-to-write {}", scenario.servers.min_replicas);
    }
    if let (Topology::Replicated { .. }, Node::Redis(2..)) = (setup.topology, node) {
        let primary = address(setup.world, Node::Redis(1));
        let _ = writeln!(text, "replicaof {primary} {PORT}");
    }
    text
}

fn sentinel(setup: &RealSetup<'_>, node: Node) -> String {
    let scenario = setup.scenario;
    let primary = address(setup.world, Node::Redis(1));
    let quorum = scenario.servers.sentinels / 2 + 1;
    let ms = |span: crate::setup::span::Span| span.0.as_millis();
    let mut text = format!(
        "port {SENTINEL_PORT}\nbind 0.0.0.0\nprotected-mode no\n\
         sentinel monitor {MASTER_NAME} {primary} {PORT} {quorum}\n\
         sentinel down-after-milliseconds {MASTER_NAME} {}\n\
         sentinel failover-timeout {MASTER_NAME} {}\n",
        ms(scenario.servers.down_after),
        ms(scenario.servers.failover_timeout),
    );
    for replica in (2..=scenario.servers.replicas + 1).map(Node::Redis) {
        let replica = address(setup.world, replica);
        let _ = writeln!(text, "sentinel known-replica {MASTER_NAME} {replica} {PORT}");
    }
    for other in (1..=scenario.servers.sentinels).map(Node::Sentinel) {
        let id = sentinel_id(setup, other);
        if other == node {
            let _ = writeln!(text, "sentinel myid {id}");
        } else {
            let at = address(setup.world, other);
            let _ =
                writeln!(text, "sentinel known-sentinel {MASTER_NAME} {at} {SENTINEL_PORT} {id}");
        }
    }
    text
}

fn sentinel_id(setup: &RealSetup<'_>, node: Node) -> String {
    let mut rng = setup.seed.stream(fencepost_faults::Stream::Server(node));
    (0..5).map(|_| format!("{:08x}", rng.next_u32())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_its_name_and_version() {
        let of = |said: &str| name_and_version(said).map(|(name, version)| name + " " + &version);
        let redis = "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64\n";
        assert_eq!(of(redis), Some("Redis 7.0.15".to_owned()));
        assert_eq!(of("Valkey server v=8.0.1 sha=0\n"), Some("Valkey 8.0.1".to_owned()));
        assert_eq!(of("ls (GNU coreutils) 9.1\n"), None);
        assert_eq!(of("x\nRedis server v=7\n"), None);
    }
}
