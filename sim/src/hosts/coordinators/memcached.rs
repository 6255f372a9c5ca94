use super::serving::Served;
use super::{Entry, ServerSetup, address};
use crate::setup::scenario::{Factory, Scenario};
use fencepost_clients::{Coordinator, Definition, Servers};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Families, Family, FaultKind, Micros, Node};
use fencepost_memcached::{Config, Memcached};

const PORT: u16 = 11_211;

pub(super) const ENTRY: Entry = Entry {
    coordinator: Coordinator::Memcached,
    about: "memcached 1.6.18: one server with limited memory, empty after a restart",
    port: PORT,
    not_exercised: &[Family::Failover, Family::ReplicationLag, Family::Operator],
    unanswered: &[FaultKind::Operator],
    tick: Micros::from_secs(1),
    topology,
    machine,
    servers,
    lease: |ttl| ttl,
    recovery,
};

fn topology(_: &Scenario, _: &Definition, _: &Families) -> Topology {
    Topology::Ensemble { servers: 1 }
}

fn machine(setup: &ServerSetup<'_>, _: Node) -> Factory {
    let config = Config { tap_prefix: setup.tap_prefix.clone(), ..Config::default() };
    Box::new(move |_, now| Box::new(Memcached::new(config.clone(), now)))
}

fn servers(_: &ServerSetup<'_>, _: Node) -> Servers {
    Servers::Ensemble(vec![address(Node::Server(1), PORT)])
}

/// Returns 3 s: clients round a ttl up to whole seconds and may add one second, and the server
/// reads its clock once a second.
fn recovery(_: &Scenario, _: Topology) -> Micros {
    Micros::from_secs(3)
}

pub(crate) fn served(clients_max: Option<u32>, memory_limit: u64) -> Served {
    Served::new(
        "memcached",
        |_| String::new(),
        move |seat| {
            let mut config = Config::default();
            if let Some(limit) = usize::try_from(memory_limit).ok().filter(|limit| *limit > 0) {
                config.memory_limit = limit;
            }
            if let Some(bound) = clients_max {
                config.connections_max = bound as usize;
            }
            Memcached::new(config, seat.now)
        },
    )
}
