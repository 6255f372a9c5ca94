//! PostgreSQL: one server, whose commits survive. It is served; no lock of the table runs on it
//! yet.

use super::{Entry, Ground, address};
use crate::scenario::Scenario;
use crate::world::server::Factory;
use fencepost_clients::{Coordinator, Definition, Servers};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Families, Family, FaultKind, Micros, Node, Stream};
use fencepost_machine::DiskImage;
use fencepost_postgresql::{Config, Postgresql};
use fencepost_serve::{Boot, Files, Member, ServeError, Serving, clocks, listen};
use rand_core::Rng;
use std::net::IpAddr;
use std::path::Path;

/// The port of the server.
const PORT: u16 = 5_432;

pub(super) const ENTRY: Entry = Entry {
    coordinator: Coordinator::PostgreSql,
    about: "PostgreSQL 15: one server that keeps what was committed (served only: no locks yet)",
    port: PORT,
    // Nobody takes over from it, nobody follows it, and its memory is no cache.
    not_exercised: &[Family::Failover, Family::ReplicationLag, Family::Eviction],
    unanswered: &[FaultKind::FlushAll, FaultKind::Evict],
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

fn machine(ground: &Ground<'_>, node: Node) -> Factory {
    let seed = ground.seed.stream(Stream::Server(node)).next_u64();
    let config = Config { seed, ..Config::default() };
    Box::new(move |disk, now| Box::new(Postgresql::new(config.clone(), &disk, now)))
}

fn servers(_: &Ground<'_>, _: Node) -> Servers {
    Servers::Ensemble(vec![address(Node::Server(1), PORT)])
}

/// A deadlock is found a second after the last has begun to wait (`deadlock_timeout`).
fn recovery(_: &Scenario, _: Topology) -> Micros {
    Micros::from_secs(1)
}

/// Starts a server behind real TCP. With a folder it keeps its tables there. The secrets with which
/// statements are cancelled can be foreseen: it is for tests.
pub(crate) fn serve(
    bind: IpAddr,
    port: u16,
    (dir, clients_max): (Option<&Path>, Option<u32>),
) -> Result<Serving, ServeError> {
    let mut config = Config::default();
    if let Some(bound) = clients_max {
        config.clients_max = bound as usize;
    }
    let mut served = Vec::new();
    for listener in listen(bind, port, 1)? {
        let (files, disk) = match dir {
            None => (Files::none(), DiskImage::default()),
            Some(dir) => Files::open(&dir.join("postgresql"))?,
        };
        let config = config.clone();
        let boot: Boot = Box::new(move |_| Box::new(Postgresql::new(config, &disk, clocks())));
        served.push(Member { role: "postgresql", boot, files, listener });
    }
    Serving::start(served)
}
