use super::serving::{Served, bound};
use super::{Entry, ServerSetup, ensemble};
use crate::setup::scenario::{Factory, Scenario};
use fencepost_clients::Coordinator;
use fencepost_faults::setting::Topology;
use fencepost_faults::{Family, FaultKind, Micros, Node};
use fencepost_gemfire::{Config, GemFire};

const PORT: u16 = 40_404;

pub(super) const ENTRY: Entry = Entry {
    coordinator: Coordinator::GemFire,
    about: "GemFire, modelled after Apache Geode 1.15: a lock service of three servers, with \
     fencepost's own protocol",
    port: PORT,
    undrawn_families: &[Family::Eviction, Family::Operator],
    unsupported_faults: &[FaultKind::FlushAll, FaultKind::Evict, FaultKind::Operator],
    tick: Micros::from_millis(1),
    topology: ensemble::topology,
    machine,
    servers: |setup, _| ensemble::servers(setup.topology, PORT),
    lease: |ttl| ttl,
    recovery,
};

fn machine(setup: &ServerSetup<'_>, node: Node) -> Factory {
    let (me, servers) = ensemble::members(setup.topology, node, PORT);
    let member_timeout_us = member_timeout(setup.scenario.ttl.0).0;
    let tap_prefix = setup.tap_text();
    let config = Config { me, servers, member_timeout_us, tap_prefix, ..Config::default() };
    Box::new(move |_, now| Box::new(GemFire::new(config.clone(), now)))
}

/// A silent member departs after 2.5 member timeouts, which is one ttl.
fn member_timeout(ttl: Micros) -> Micros {
    Micros((ttl.0 / 5 * 2).max(1))
}

/// The other servers remove a silent server after a ttl, and the new grantor waits up to another
/// ttl for silent members. A process asks each server in turn for its coordinator.
fn recovery(scenario: &Scenario, topology: Topology) -> Micros {
    let (ttl, asks) = (scenario.ttl.0, u64::from(ensemble::count(topology)) + 1);
    Micros(ttl.0 * 3 + scenario.calls.command_timeout.0.0 * asks)
}

pub(crate) fn served(clients_max: Option<u32>) -> Served {
    Served::ensemble("gemfire", move |seat| {
        let (me, servers) = seat.members();
        let default = Config::default();
        let connections_max = bound(clients_max, default.connections_max);
        GemFire::new(Config { me, servers, connections_max, ..default }, seat.now)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_member_departs_after_the_ttl() {
        assert_eq!(member_timeout(Micros::from_secs(10)), Micros::from_secs(4));
        assert_eq!(member_timeout(Micros(1)), Micros(1));
    }
}
