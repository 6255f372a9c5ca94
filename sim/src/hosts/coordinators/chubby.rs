use super::ensemble;
use super::serving::{Served, bound};
use super::{Entry, ServerSetup};
use crate::setup::scenario::{Factory, Scenario};
use fencepost_chubby::{
    Chubby, Config, LOCK_DELAY_MAX_US, MASTER_LEASE_US, SESSION_LEASE_MAX_US, SESSION_LEASE_US,
};
use fencepost_clients::Coordinator;
use fencepost_faults::setting::Topology;
use fencepost_faults::{Family, FaultKind, Micros, Node, Stream};
use rand_core::Rng;

const PORT: u16 = 2_006;
/// Burrows (2006), section 2.2: a cell typically has five replicas.
const REPLICAS: u16 = 5;

pub(super) const ENTRY: Entry = Entry {
    coordinator: Coordinator::Chubby,
    about: "Chubby, modelled after the paper (Burrows 2006): a cell of five replicas with \
            fencepost's own protocol",
    port: PORT,
    undrawn_families: &[Family::Eviction, Family::Operator],
    unsupported_faults: &[FaultKind::FlushAll, FaultKind::Evict, FaultKind::Operator],
    tick: Micros::ZERO,
    topology: |_, _, _| Topology::Ensemble { servers: REPLICAS },
    machine,
    servers: |setup, _| ensemble::servers(setup.topology, PORT),
    lease,
    recovery,
};

fn machine(setup: &ServerSetup<'_>, node: Node) -> Factory {
    let (me, members) = ensemble::members(setup.topology, node, PORT);
    let seed = setup.seed.stream(Stream::Server(node)).next_u64();
    let tap_prefix = setup.tap_text();
    let session_lease_us = lease(setup.scenario.ttl.0).0;
    let config = Config { me, members, seed, session_lease_us, tap_prefix, ..Config::default() };
    Box::new(move |disk, now| Box::new(Chubby::new(config.clone(), &disk, now)))
}

fn lease(ttl: Micros) -> Micros {
    ttl.clamp(Micros(SESSION_LEASE_US), Micros(SESSION_LEASE_MAX_US))
}

/// Allows for a session lease, three master leases for an election, a request to each replica, and
/// a lock-delay.
fn recovery(scenario: &Scenario, _: Topology) -> Micros {
    let lease = lease(scenario.ttl.0);
    let delay = scenario.servers.lock_delay.map_or(Micros(LOCK_DELAY_MAX_US), |delay| delay.0);
    let asks = Micros(scenario.calls.command_timeout.0.0 * u64::from(REPLICAS));
    lease + Micros(MASTER_LEASE_US * 3) + asks + delay
}

pub(crate) fn served(clients_max: Option<u32>) -> Served {
    Served::ensemble("chubby", move |seat| {
        let (me, members) = seat.members();
        let default = Config::default();
        let connections_max = bound(clients_max, default.connections_max);
        let config = Config { me, members, connections_max, ..default };
        Chubby::new(config, &seat.disk, seat.now)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_lasts_for_twelve_seconds_at_least_and_a_minute_at_most() {
        let lease = |ms| lease(Micros::from_millis(ms)).as_millis();
        assert_eq!([lease(100), lease(20_000), lease(90_000)], [12_000, 20_000, 60_000]);
    }
}
