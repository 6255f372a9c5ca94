use super::ensemble::{self, count};
use super::serving::{Served, bound};
use super::{Entry, ServerSetup};
use crate::setup::scenario::{Factory, Scenario};
use fencepost_clients::Coordinator;
use fencepost_faults::setting::Topology;
use fencepost_faults::{Family, FaultKind, Micros, Node};
use fencepost_zookeeper::{Config, ZooKeeper};

const PORT: u16 = 2_181;
const SERVED_CLIENTS_MAX: usize = 10_000;

pub(super) const ENTRY: Entry = Entry {
    coordinator: Coordinator::ZooKeeper,
    about: "ZooKeeper 3.8.0: an ensemble that commits every change by majority, or one server",
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
    let tap_prefix = setup.tap_text();
    let config = Config { me, members, tap_prefix, ..Config::default() };
    Box::new(move |disk, now| Box::new(ZooKeeper::new(config.clone(), &disk, now)))
}

/// Clamps the timeout between `minSessionTimeout` (2 ticks) and `maxSessionTimeout` (20 ticks).
fn lease(ttl: Micros) -> Micros {
    let ticks = |count| Micros(tick().0 * count);
    ttl.clamp(ticks(2), ticks(20))
}

fn tick() -> Micros {
    Micros::from_millis(Config::default().tick_ms)
}

/// A session may outlive its timeout by a tick. In an ensemble, members may also take syncLimit to
/// notice that they lost contact, and initLimit for a failed attempt to follow a leader. A client
/// notices a silent server after two thirds of the session timeout, then tries all servers within
/// one timeout, and sleeps up to a second before each server and before the round.
fn recovery(scenario: &Scenario, topology: Topology) -> Micros {
    let (config, servers, timeout) =
        (Config::default(), u64::from(count(topology)), lease(scenario.ttl.0));
    let ticks = match servers {
        1 => 1,
        _ => 1 + config.sync_limit + config.init_limit,
    };
    let finds_silence = Micros(timeout.0 * 2 / 3);
    Micros(tick().0 * ticks) + finds_silence + timeout + Micros::from_secs(servers + 1)
}

pub(crate) fn served(clients_max: Option<u32>) -> Served {
    Served::ensemble("zookeeper", move |seat| {
        let (me, members) = seat.members();
        let default = Config::default();
        let config = Config {
            me,
            members,
            clients_max: SERVED_CLIENTS_MAX,
            clients_per_host_max: bound(clients_max, default.clients_per_host_max),
            ..default
        };
        ZooKeeper::new(config, &seat.disk, seat.now)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_lasts_as_long_as_asked_within_two_and_twenty_ticks() {
        let lease = |ms| lease(Micros::from_millis(ms)).as_millis();
        assert_eq!([lease(100), lease(10_000), lease(90_000)], [4_000, 10_000, 40_000]);
    }

    #[test]
    fn an_ensemble_needs_longer_to_recover_than_a_server_alone() {
        let recovery = |servers| recovery(&Scenario::default(), Topology::Ensemble { servers });
        assert_eq!(recovery(1).as_millis(), 2_000 + 6_666 + 10_000 + 2_000);
        assert_eq!(recovery(3).as_millis(), 32_000 + 6_666 + 10_000 + 4_000);
    }
}
