//! ZooKeeper: an ensemble that agrees on every change, or one server alone.

use super::ensemble::{self, count};
use super::{Entry, ServerSetup};
use crate::setup::scenario::Factory;
use crate::setup::scenario::Scenario;
use fencepost_clients::{Coordinator, Servers};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Family, FaultKind, Micros, Node};
use fencepost_machine::DiskImage;
use fencepost_serve::{Boot, Files, ServeError, Serving, announced, clocks, listen};
use fencepost_zookeeper::{Config, Member, MemberId, ZooKeeper};
use std::net::IpAddr;
use std::path::Path;

/// The port of every server (`clientPort`).
const PORT: u16 = 2_181;
/// How many clients a served member takes in all (`maxCnxns`).
const SERVED_CLIENTS_MAX: usize = 10_000;

pub(super) const ENTRY: Entry = Entry {
    coordinator: Coordinator::ZooKeeper,
    about: "ZooKeeper 3.8.0: an ensemble whose majority agrees on every change, or one server",
    port: PORT,
    // Its memory is no cache, and no command clears it.
    not_exercised: &[Family::Eviction, Family::Operator],
    unanswered: &[FaultKind::FlushAll, FaultKind::Evict, FaultKind::Operator],
    tick: Micros::ZERO,
    topology: ensemble::topology,
    machine,
    servers,
    lease,
    recovery,
};

fn machine(setup: &ServerSetup<'_>, node: Node) -> Factory {
    let member = |number: u16| Member {
        id: MemberId::try_from(number).unwrap_or(MemberId::MAX),
        host: Node::Server(number).to_string(),
        port: PORT,
    };
    let members: Vec<Member> = (1..=count(setup.topology)).map(member).collect();
    let own_name = node.to_string();
    let me = members.iter().find(|member| member.host == own_name).map_or(1, |member| member.id);
    let tap_prefix = setup.tap_prefix.as_deref();
    let tap_prefix = tap_prefix.map(|prefix| String::from_utf8_lossy(prefix).into_owned());
    let config = Config { me, members, tap_prefix, ..Config::default() };
    Box::new(move |disk, now| Box::new(ZooKeeper::new(config.clone(), &disk, now)))
}

fn servers(setup: &ServerSetup<'_>, _: Node) -> Servers {
    ensemble::servers(setup.topology, PORT)
}

/// The timeout of a session, which is asked for as the ttl: at least two ticks and at most twenty
/// (`minSessionTimeout`, `maxSessionTimeout`).
fn lease(ttl: Micros) -> Micros {
    let ticks = |count| Micros(tick().0 * count);
    ttl.clamp(ticks(2), ticks(20))
}

/// `tickTime`.
fn tick() -> Micros {
    Micros::from_millis(Config::default().tick_ms)
}

/// A session outlives its timeout by up to a tick. Before that, members may take syncLimit to find
/// that they lost each other, and initLimit for an attempt to follow a leader that fails. A client
/// finds after two thirds of its timeout that its server is silent; then it tries each server for
/// an equal part of the timeout, and sleeps for up to a second before each and once more before it
/// begins the list again.
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

/// Starts the members of an ensemble behind real TCP, where they speak with each other, too. With a
/// folder each keeps its files in one of its own below it. `clients_max` bounds the clients of one
/// address.
pub(crate) fn serve(
    bind: IpAddr,
    port: u16,
    count: u16,
    (dir, clients_max): (Option<&Path>, Option<u32>),
) -> Result<Serving, ServeError> {
    // All listen before any starts: each is told where the others are.
    let listeners = listen(bind, port, count)?;
    let (host, mut members) = (announced(bind), Vec::new());
    for (id, listener) in (1..).zip(&listeners) {
        let port = listener.local_addr().map_err(ServeError::System)?.port();
        members.push(Member { id, host: host.clone(), port });
    }
    let mut served = Vec::new();
    for (me, listener) in (1..).zip(listeners) {
        let mut config = Config { me, members: members.clone(), ..Config::default() };
        config.clients_max = SERVED_CLIENTS_MAX;
        if let Some(bound) = clients_max {
            config.clients_per_host_max = bound as usize;
        }
        let (files, disk) = match dir {
            None => (Files::none(), DiskImage::default()),
            Some(dir) => Files::open(&dir.join(format!("zookeeper-{me}")))?,
        };
        let boot: Boot = Box::new(move |_| Box::new(ZooKeeper::new(config, &disk, clocks())));
        served.push(fencepost_serve::Member { role: "zookeeper", boot, files, listener });
    }
    Serving::start(served)
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
