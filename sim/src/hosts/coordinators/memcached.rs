//! memcached: one server that keeps nothing over a restart.

use super::{Entry, ServerSetup, address};
use crate::setup::scenario::Factory;
use crate::setup::scenario::Scenario;
use fencepost_clients::{Coordinator, Definition, Servers};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Families, Family, FaultKind, Micros, Node};
use fencepost_memcached::{Config, Memcached};
use fencepost_serve::{Boot, Files, Member, ServeError, Serving, clocks, listen};
use std::net::IpAddr;

/// The port of the server.
const PORT: u16 = 11_211;

pub(super) const ENTRY: Entry = Entry {
    coordinator: Coordinator::Memcached,
    about: "memcached 1.6.18: one server with a bound on its memory, empty after a restart",
    port: PORT,
    // Nobody takes over from it, and nobody follows it.
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

/// A ttl is rounded up to whole seconds, may ask for one more, and ends when a clock is read that
/// is read once a second.
fn recovery(_: &Scenario, _: Topology) -> Micros {
    Micros::from_secs(3)
}

/// Starts servers that know nothing of each other behind real TCP. A memory limit of 0 is the one
/// that memcached has by itself, and so is no bound on connections.
pub(crate) fn serve(
    bind: IpAddr,
    port: u16,
    count: u16,
    (memory_limit, connections_max): (u64, Option<u32>),
) -> Result<Serving, ServeError> {
    let mut config = Config::default();
    if let Some(limit) = usize::try_from(memory_limit).ok().filter(|limit| *limit > 0) {
        config.memory_limit = limit;
    }
    if let Some(bound) = connections_max {
        config.connections_max = bound as usize;
    }
    let member = |listener| {
        let config = config.clone();
        let boot: Boot = Box::new(move |_| Box::new(Memcached::new(config, clocks())));
        Member { role: "memcached", boot, files: Files::none(), listener }
    };
    Serving::start(listen(bind, port, count)?.into_iter().map(member).collect())
}
