use super::serving::{Served, bound};
use super::{Entry, ServerSetup, ensemble};
use crate::setup::scenario::Factory;
use fencepost_clients::Coordinator;
use fencepost_faults::setting::Topology;
use fencepost_faults::{Family, FaultKind, Micros, Node};
use fencepost_memcached::{Config, Memcached};

const PORT: u16 = 11_211;

pub(super) const ENTRY: Entry = Entry {
    coordinator: Coordinator::Memcached,
    about: "memcached 1.6.18: one server with limited memory, empty after a restart",
    port: PORT,
    undrawn_families: &[Family::Failover, Family::ReplicationLag, Family::Operator],
    unsupported_faults: &[FaultKind::Operator],
    tick: Micros::from_secs(1),
    topology: |_, _, _| Topology::Ensemble { servers: 1 },
    machine,
    servers: |setup, _| ensemble::servers(setup.topology, PORT),
    lease: |ttl| ttl,
    // Clients round a ttl up to seconds and may add one; the server reads its clock once a second.
    recovery: |_, _| Micros::from_secs(3),
};

fn machine(setup: &ServerSetup<'_>, _: Node) -> Factory {
    let config = Config { tap_prefix: setup.tap_prefix.clone(), ..Config::default() };
    Box::new(move |_, now| Box::new(Memcached::new(config.clone(), now)))
}

pub(crate) fn served(clients_max: Option<u32>, memory_limit: u64) -> Served {
    Served::single("memcached", move |seat| {
        let default = Config::default();
        let limit = usize::try_from(memory_limit).ok().filter(|limit| *limit > 0);
        let config = Config {
            memory_limit: limit.unwrap_or(default.memory_limit),
            connections_max: bound(clients_max, default.connections_max),
            ..default
        };
        Memcached::new(config, seat.now)
    })
}
