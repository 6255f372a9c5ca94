use super::serving::Served;
use super::{Entry, ServerSetup, address};
use crate::setup::scenario::{Factory, Scenario};
use fencepost_clients::{Coordinator, Definition, Servers};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Families, Family, FaultKind, Micros, Node, Stream};
use fencepost_mysql::{Config, Mysql};
use rand_core::Rng;

const PORT: u16 = 3_306;

pub(super) const ENTRY: Entry = Entry {
    coordinator: Coordinator::MySql,
    about: "MariaDB 10.11: one server whose locks belong to connections",
    port: PORT,
    not_exercised: &[Family::Failover, Family::ReplicationLag, Family::Eviction, Family::Operator],
    unanswered: &[FaultKind::FlushAll, FaultKind::Evict, FaultKind::Operator],
    topology,
    machine,
    servers,
    lease: |ttl| ttl,
    tick: Micros::ZERO,
    recovery,
};

fn topology(_: &Scenario, _: &Definition, _: &Families) -> Topology {
    Topology::Ensemble { servers: 1 }
}

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

fn servers(_: &ServerSetup<'_>, _: Node) -> Servers {
    Servers::Ensemble(vec![address(Node::Server(1), PORT)])
}

/// Returns 1 s: a waiting lock request checks its client's connection once a second.
fn recovery(_: &Scenario, _: Topology) -> Micros {
    Micros::from_secs(1)
}

pub(crate) fn served(clients_max: Option<u32>) -> Served {
    Served::new(
        "mysql",
        |_| "mysql".to_owned(),
        move |seat| {
            let mut config = Config::default();
            if let Some(bound) = clients_max {
                config.clients_max = bound as usize;
            }
            Mysql::new(config, &seat.disk)
        },
    )
}
