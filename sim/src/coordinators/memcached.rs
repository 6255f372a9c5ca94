//! memcached: one server that keeps nothing over a restart.

use super::{Entry, Ground, address};
use crate::scenario::Scenario;
use crate::world::server::Factory;
use fencepost_clients::{Coordinator, Definition, Servers};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Families, Family, Micros, Node};
use fencepost_memcached::{Config, Memcached};

/// The port of the server.
const PORT: u16 = 11_211;

pub(super) const ENTRY: Entry = Entry {
    coordinator: Coordinator::Memcached,
    about: "memcached 1.6.18: one server with a bound on its memory, empty after a restart",
    port: PORT,
    // Nobody takes over from it, and nobody follows it.
    not_exercised: &[Family::Failover, Family::ReplicationLag],
    topology,
    machine,
    servers,
    recovery,
};

fn topology(_: &Scenario, _: &Definition, _: &Families) -> Topology {
    Topology::Ensemble { servers: 1 }
}

fn machine(ground: &Ground<'_>, _: Node) -> Factory {
    let config = Config { tap_prefix: Some(ground.tap_prefix.clone()), ..Config::default() };
    Box::new(move |_, now| Box::new(Memcached::new(config.clone(), now)))
}

fn servers(_: &Ground<'_>, _: Node) -> Servers {
    Servers::Ensemble(vec![address(Node::Server(1), PORT)])
}

/// A ttl is rounded up to whole seconds, by a clock that is read once a second.
fn recovery(_: Topology) -> Micros {
    Micros::from_secs(2)
}
