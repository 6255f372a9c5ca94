//! User-supplied servers. They always run as real processes.

use super::{Entry, ServerSetup};
use crate::setup::scenario::{Factory, Scenario};
use fencepost_clients::{Coordinator, Definition, Servers};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Families, Family, FaultKind, Micros, Node};

pub(super) const ENTRY: Entry = Entry {
    coordinator: Coordinator::Own,
    about: "your own server (--server)",
    port: 0,
    // fencepost knows neither the leading server nor the command that deletes a server's data.
    undrawn_families: &[
        Family::Failover,
        Family::ReplicationLag,
        Family::Eviction,
        Family::Operator,
    ],
    unsupported_faults: &[FaultKind::FlushAll, FaultKind::Evict, FaultKind::Operator],
    tick: Micros::ZERO,
    topology,
    machine,
    servers: |_, _| Servers::Ensemble(Vec::new()),
    lease: |ttl| ttl,
    // By default, Consul keeps a dead holder's lock for up to two ttls plus a lock-delay of 15 s.
    recovery: |scenario, _| scenario.ttl.0 + Micros::from_secs(20),
};

fn topology(scenario: &Scenario, client: &Definition, _: &Families) -> Topology {
    let servers = scenario.program(client).map_or(1, |program| program.servers.len());
    Topology::Ensemble { servers: u16::try_from(servers).unwrap_or(u16::MAX) }
}

fn machine(_: &ServerSetup<'_>, node: Node) -> Factory {
    panic!("{node} is a server of the user: there is no simulated one");
}
