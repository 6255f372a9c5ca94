use super::{Entry, ServerSetup, address};
use crate::setup::scenario::Factory;
use crate::setup::scenario::{MastersOrder, Persistence, Scenario};
use fake_redis::config::{Fsync, NodeConfig, Persistence as ServerPersistence};
use fake_redis::sentinel::Address as SentinelAddress;
use fake_redis::{Sentinel, SentinelConfig};
use fencepost_clients::{Coordinator, Definition, Deployment, Servers};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Families, Family, Micros, Node, Stream};
use rand_core::Rng;

const PORT: u16 = 6379;
const SENTINEL_PORT: u16 = 26379;
const MASTER_NAME: &str = "mymaster";

pub(super) const ENTRY: Entry = Entry {
    coordinator: Coordinator::Redis,
    about: "Redis 7.0: one server, a primary with replicas and Sentinels, or independent masters",
    port: PORT,
    undrawn_families: &[],
    unsupported_faults: &[],
    // Redis keeps a key until the end of its last millisecond, so no lease ends early.
    tick: Micros::ZERO,
    topology,
    machine,
    servers,
    lease: |ttl| ttl,
    recovery,
};

fn topology(scenario: &Scenario, client: &Definition, families: &Families) -> Topology {
    let has_sentinels =
        || scenario.program(client).is_some_and(|program| program.deployment.has_sentinels());
    match client.deployment {
        Deployment::Independent => Topology::Independent {
            masters: scenario.servers.masters,
            quorum: scenario.servers.masters / 2 + 1,
        },
        _ if scenario.needs_replicas()
            || families.chosen().any(Family::has_replicas)
            || has_sentinels() =>
        {
            Topology::Replicated {
                replicas: scenario.servers.replicas,
                sentinels: scenario.servers.sentinels,
                down_after_us: scenario.servers.down_after.0,
                failover_timeout_us: scenario.servers.failover_timeout.0,
            }
        }
        _ => Topology::Standalone,
    }
}

fn machine(setup: &ServerSetup<'_>, node: Node) -> Factory {
    match node {
        Node::Sentinel(_) => sentinel(setup, node),
        _ => redis(setup, node),
    }
}

fn redis(setup: &ServerSetup<'_>, node: Node) -> Factory {
    let scenario = setup.scenario;
    let replica_of = match (setup.topology, node) {
        (Topology::Replicated { .. }, Node::Redis(number)) if number > 1 => {
            Some((Node::Redis(1).to_string(), PORT))
        }
        _ => None,
    };
    let config = NodeConfig {
        host: node.to_string(),
        port: PORT,
        replica_of,
        has_config_file: true,
        persistence: persistence(scenario.servers.persistence),
        min_replicas_to_write: u32::from(scenario.servers.min_replicas),
        tap_prefix: setup.tap_prefix.clone(),
        version: scenario.servers.redis_version.modelled(),
        ..NodeConfig::default()
    };
    let mut ids = setup.seed.stream(Stream::Server(node));
    // Replicas start in sync, as in a deployment that has run for a while.
    let mut starts_in_step = true;
    Box::new(move |image, now| {
        let config = NodeConfig { starts_in_step, ..config.clone() };
        starts_in_step = false;
        Box::new(fake_redis::Node::new(config, image, ids.next_u64(), now.wall))
    })
}

fn sentinel(setup: &ServerSetup<'_>, node: Node) -> Factory {
    let scenario = setup.scenario;
    let address = |node: Node, port| SentinelAddress { host: node.to_string(), port };
    let replicas = (2..=scenario.servers.replicas + 1).map(Node::Redis);
    let config = SentinelConfig {
        master_name: MASTER_NAME.to_owned(),
        quorum: usize::from(scenario.servers.sentinels / 2 + 1),
        down_after_ms: scenario.servers.down_after.0.as_millis() as i64,
        failover_timeout_ms: scenario.servers.failover_timeout.0.as_millis() as i64,
        known_replicas: replicas.map(|node| address(node, PORT)).collect(),
        ..SentinelConfig::new(address(node, SENTINEL_PORT), address(Node::Redis(1), PORT))
    };
    let mut ids = setup.seed.stream(Stream::Server(node));
    Box::new(move |disk, now| {
        Box::new(Sentinel::started(config.clone(), &disk, ids.next_u64(), now.wall))
    })
}

fn servers(setup: &ServerSetup<'_>, process: Node) -> Servers {
    match setup.topology {
        Topology::Replicated { sentinels, .. } => Servers::Sentinels {
            name: MASTER_NAME.to_owned(),
            sentinels: (1..=sentinels).map(|n| address(Node::Sentinel(n), SENTINEL_PORT)).collect(),
        },
        Topology::Independent { masters, .. } => {
            let mut known: Vec<_> = (1..=masters).map(|n| address(Node::Redis(n), PORT)).collect();
            known.rotate_left(first_master(setup.scenario, process));
            Servers::Independent(known)
        }
        Topology::Standalone | Topology::Ensemble { .. } | Topology::Standby { .. } => {
            Servers::One(address(Node::Redis(1), PORT))
        }
    }
}

fn first_master(scenario: &Scenario, process: Node) -> usize {
    let place = match process {
        Node::Client(number) => number - 1,
        _ => scenario.processes,
    };
    match scenario.servers.masters_order {
        MastersOrder::Same => 0,
        MastersOrder::Rotated => usize::from(place % scenario.servers.masters),
    }
}

/// With Sentinel, allows for down-after, twice failover-timeout, and the 30 s of TILT mode.
fn recovery(_: &Scenario, topology: Topology) -> Micros {
    match topology {
        Topology::Replicated { down_after_us, failover_timeout_us, .. } => {
            down_after_us + failover_timeout_us + failover_timeout_us + Micros::from_secs(30)
        }
        _ => Micros::ZERO,
    }
}

pub(crate) fn persistence(persistence: Persistence) -> ServerPersistence {
    match persistence {
        Persistence::None => ServerPersistence::None,
        Persistence::Rdb => ServerPersistence::Rdb,
        Persistence::AofEverysec => ServerPersistence::Aof { fsync: Fsync::EverySec },
        Persistence::AofAlways => ServerPersistence::Aof { fsync: Fsync::Always },
    }
}
