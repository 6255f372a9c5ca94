use super::serving::{Served, bound};
use super::{Entry, ServerSetup, ensemble};
use crate::setup::scenario::Factory;
use fencepost_clients::Coordinator;
use fencepost_faults::setting::Topology;
use fencepost_faults::{Family, FaultKind, Micros, Node, Stream};
use fencepost_mysql::{Config, Mysql};
use rand_core::Rng;

const PORT: u16 = 3_306;

pub(super) const ENTRY: Entry = Entry {
    coordinator: Coordinator::MySql,
    about: "MariaDB 10.11: one server whose locks belong to connections",
    port: PORT,
    undrawn_families: &[
        Family::Failover,
        Family::ReplicationLag,
        Family::Eviction,
        Family::Operator,
    ],
    unsupported_faults: &[FaultKind::FlushAll, FaultKind::Evict, FaultKind::Operator],
    topology: |_, _, _| Topology::Ensemble { servers: 1 },
    machine,
    servers: |setup, _| ensemble::servers(setup.topology, PORT),
    lease: |ttl| ttl,
    tick: Micros::ZERO,
    // A waiting lock request checks its client's connection once a second.
    recovery: |_, _| Micros::from_secs(1),
};

fn machine(setup: &ServerSetup<'_>, node: Node) -> Factory {
    let seed = setup.seed.stream(Stream::Server(node)).next_u64();
    let schema = if setup.is_for_program() { schema(setup.lock) } else { String::new() };
    let config = Config { seed, watch: setup.tap_text(), schema, ..Config::default() };
    Box::new(move |disk, _| Box::new(Mysql::new(config.clone(), &disk)))
}

fn schema(lock: &str) -> String {
    let lock = lock.replace('\'', "''");
    format!(
        "CREATE DATABASE test; CREATE TABLE test.locks (name VARCHAR(64) PRIMARY KEY); \
         INSERT INTO test.locks VALUES ('{lock}')"
    )
}

pub(crate) fn served(clients_max: Option<u32>) -> Served {
    Served::single("mysql", move |seat| {
        let default = Config::default();
        let clients_max = bound(clients_max, default.clients_max);
        Mysql::new(Config { clients_max, ..default }, &seat.disk)
    })
}
