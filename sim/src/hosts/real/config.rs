//! What a real server is told at its start.

use super::{RealSetup, RealWorld};
use crate::setup::scenario::{Persistence, Scenario, ServerBinary};
use bytes::Bytes;
use fencepost_faults::Node;
use fencepost_faults::setting::Topology;
use fencepost_programs::Launch;
use rand_core::Rng;
use std::fmt::Write;
use std::path::Path;

const PORT: u16 = 6379;
const SENTINEL_PORT: u16 = 26379;
/// The name under which Sentinels watch the primary.
const MASTER_NAME: &str = "mymaster";
/// How its folder is called for the server: its real path differs between runs, and servers tell
/// their clients where their configuration is.
const FOLDER: &str = "/proc/self/cwd";
/// The number of a server's first process.
const FIRST_PROCESS: u32 = 101;

/// The part of one server in a deployment.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) node: Node,
    pub(super) world: RealWorld,
    pub(super) binary: ServerBinary,
    /// What its configuration file holds when it first starts.
    pub(super) configuration: String,
    pub(super) tap_prefix: Option<Bytes>,
    pub(super) sync_us: u64,
    pub(super) has_log: bool,
    pub(super) min_replicas: u16,
}

impl Part {
    pub(super) fn of(setup: &RealSetup<'_>, node: Node) -> Part {
        let scenario = setup.scenario;
        let configuration = match node {
            Node::Sentinel(_) => sentinel(setup, node),
            _ => redis(setup, node),
        };
        Part {
            node,
            world: setup.world.clone(),
            binary: setup.binary.clone(),
            configuration,
            tap_prefix: setup.tap_prefix.clone(),
            sync_us: scenario.timing.sync_time.0.0,
            has_log: has_log(scenario),
            min_replicas: scenario.servers.min_replicas,
        }
    }

    pub(super) fn is_sentinel(&self) -> bool {
        matches!(self.node, Node::Sentinel(_))
    }

    pub(super) fn port(&self) -> u16 {
        if self.is_sentinel() { SENTINEL_PORT } else { PORT }
    }

    /// The address of a host by its name.
    pub(super) fn address(&self, host: &str) -> Option<std::net::Ipv4Addr> {
        self.world.addresses.get(host).copied()
    }

    /// The host at an address, or the name that is none.
    pub(super) fn host_at(&self, address: &str) -> String {
        let found = self.world.addresses.iter().find(|(_, known)| known.to_string() == *address);
        found.map_or_else(|| address.to_owned(), |(name, _)| name.clone())
    }

    pub(super) fn file_name(&self) -> &'static str {
        if self.is_sentinel() { "sentinel.conf" } else { "redis.conf" }
    }

    /// How it is started in a folder.
    pub(super) fn launch(&self, folder: &Path, seed: u64) -> Launch {
        let mut command = vec![self.binary.path.clone(), format!("{FOLDER}/{}", self.file_name())];
        if self.is_sentinel() {
            command.push("--sentinel".to_owned());
        }
        let environment =
            [("PATH", "/usr/bin:/bin"), ("HOME", "/"), ("LANG", "C.UTF-8"), ("TZ", "UTC")];
        Launch {
            command,
            environment: environment
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            folder: folder.to_owned(),
            host_name: self.node.to_string(),
            hosts: (*self.world.addresses).clone(),
            seed,
            first_process: FIRST_PROCESS,
            sync_us: Some(self.sync_us),
        }
    }
}

fn has_log(scenario: &Scenario) -> bool {
    matches!(scenario.servers.persistence, Persistence::AofEverysec | Persistence::AofAlways)
}

/// The address of a node that is part of the deployment.
fn address(world: &RealWorld, node: Node) -> String {
    let found = world.addresses.get(&node.to_string());
    found.map_or_else(|| node.to_string(), ToString::to_string)
}

fn redis(setup: &RealSetup<'_>, node: Node) -> String {
    let scenario = setup.scenario;
    let mut text = format!("port {PORT}\nbind 0.0.0.0\nprotected-mode no\n");
    text += match scenario.servers.persistence {
        // A replica keeps no file that its primary has sent, either.
        Persistence::None if setup.binary.major() >= 6 => "save \"\"\nrdb-del-sync-files yes\n",
        Persistence::None => "save \"\"\n",
        Persistence::Rdb => "save 3600 1\nsave 300 100\nsave 60 10000\n",
        Persistence::AofEverysec => "save \"\"\nappendonly yes\nappendfsync everysec\n",
        Persistence::AofAlways => "save \"\"\nappendonly yes\nappendfsync always\n",
    };
    // A new replica is served at once.
    text += "repl-diskless-sync-delay 0\n";
    if scenario.servers.min_replicas > 0 {
        let _ = writeln!(text, "min-replicas-to-write {}", scenario.servers.min_replicas);
    }
    if let (Topology::Replicated { .. }, Node::Redis(2..)) = (setup.topology, node) {
        let primary = address(setup.world, Node::Redis(1));
        let _ = writeln!(text, "replicaof {primary} {PORT}");
    }
    text
}

/// A Sentinel that has long found replicas and the other Sentinels.
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

/// The name that a Sentinel has for the others: 40 hexadecimal digits.
fn sentinel_id(setup: &RealSetup<'_>, node: Node) -> String {
    let mut rng = setup.seed.stream(fencepost_faults::Stream::Server(node));
    (0..5).map(|_| format!("{:08x}", rng.next_u32())).collect()
}
