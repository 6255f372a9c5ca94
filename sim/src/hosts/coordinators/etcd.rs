use super::ensemble::{self, count};
use super::serving::{Served, bound};
use super::{Entry, ServerSetup};
use crate::setup::scenario::{Factory, Scenario};
use fencepost_clients::etcd::session::whole_seconds;
use fencepost_clients::{Coordinator, ServerLock};
use fencepost_etcd::{Config, Etcd};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Family, FaultKind, Micros, Node, Stream};
use rand_core::Rng;
use std::time::Duration;

const PORT: u16 = 2_379;

pub(super) const ENTRY: Entry = Entry {
    coordinator: Coordinator::Etcd,
    about: "etcd 3.4.23: a cluster that commits every change by majority, or one server",
    port: PORT,
    undrawn_families: &[Family::Eviction, Family::Operator],
    unsupported_faults: &[FaultKind::FlushAll, FaultKind::Evict, FaultKind::Operator],
    tick: Micros::ZERO,
    topology: ensemble::topology,
    machine,
    servers: |setup, _| ensemble::servers(setup.topology, PORT),
    lease,
    recovery,
};

fn machine(setup: &ServerSetup<'_>, node: Node) -> Factory {
    let (me, members) = ensemble::members(setup.topology, node, PORT);
    let seed = setup.seed.stream(Stream::Server(node)).next_u64();
    let tap_prefix = setup.tap_text();
    let lock_checks_key = setup.server_lock == ServerLock::Checked;
    let config = Config { me, members, seed, lock_checks_key, tap_prefix, ..Config::default() };
    Box::new(move |disk, now| Box::new(Etcd::new(config.clone(), &disk, now)))
}

fn lease(ttl: Micros) -> Micros {
    let seconds = whole_seconds(Duration::from_micros(ttl.0));
    let least = u64::try_from(Config::default().ttl_min()).unwrap_or(0);
    Micros::from_secs(seconds.max(least))
}

/// A new leader extends each lease by an election timeout, checks for expired leases twice a
/// second, and retries a failed revocation after 3 s. In a cluster, there may be four elections of
/// two election timeouts each, and a client's request may fail after 5 s and two election timeouts.
fn recovery(_: &Scenario, topology: Topology) -> Micros {
    let election = Micros::from_millis(Config::default().election_ms());
    let looks = Micros::from_millis(500) + Micros::from_secs(3);
    match count(topology) {
        1 => Micros(election.0 * 3) + looks,
        _ => Micros(election.0 * 11) + looks + Micros::from_secs(5),
    }
}

pub(crate) fn served(clients_max: Option<u32>) -> Served {
    Served::ensemble("etcd", move |seat| {
        let (me, members) = seat.members();
        let default = Config::default();
        let connections_max = bound(clients_max, default.connections_max);
        let config = Config { me, members, connections_max, ..default };
        Etcd::new(config, &seat.disk, seat.now)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_lasts_for_whole_seconds_and_two_at_least() {
        let lease = |ms| lease(Micros::from_millis(ms)).as_millis();
        assert_eq!([lease(100), lease(2_500), lease(10_000)], [2_000, 3_000, 10_000]);
    }
}
