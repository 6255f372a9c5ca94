//! MySQL, as MariaDB has it: one server, whose user locks end with their connections.

use super::{Entry, ServerSetup, address};
use crate::setup::scenario::Factory;
use crate::setup::scenario::Scenario;
use fencepost_clients::{Coordinator, Definition, Servers};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Families, Family, FaultKind, Micros, Node, Stream};
use fencepost_machine::DiskImage;
use fencepost_mysql::{Config, Mysql};
use fencepost_serve::{Boot, Files, Member, ServeError, Serving, listen};
use rand_core::Rng;
use std::net::IpAddr;
use std::path::Path;

/// The port of the server.
const PORT: u16 = 3_306;

pub(super) const ENTRY: Entry = Entry {
    coordinator: Coordinator::MySql,
    about: "MariaDB 10.11: one server whose locks belong to connections",
    port: PORT,
    // Nobody takes over from it, nobody follows it, and its memory is no cache.
    not_exercised: &[Family::Failover, Family::ReplicationLag, Family::Eviction, Family::Operator],
    unanswered: &[FaultKind::FlushAll, FaultKind::Evict, FaultKind::Operator],
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

fn machine(setup: &ServerSetup<'_>, node: Node) -> Factory {
    let seed = setup.seed.stream(Stream::Server(node)).next_u64();
    let watch = setup.tap_prefix.as_deref();
    let watch = watch.map(|resource| String::from_utf8_lossy(resource).into_owned());
    let config = Config { seed, watch, ..Config::default() };
    Box::new(move |disk, _| Box::new(Mysql::new(config.clone(), &disk)))
}

fn servers(_: &ServerSetup<'_>, _: Node) -> Servers {
    Servers::Ensemble(vec![address(Node::Server(1), PORT)])
}

/// Whoever waits for a lock looks once a second whether its client is still there.
fn recovery(_: &Scenario, _: Topology) -> Micros {
    Micros::from_secs(1)
}

/// Starts a server behind real TCP. With a folder it keeps its tables there.
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
            Some(dir) => Files::open(&dir.join("mysql"))?,
        };
        let config = config.clone();
        let boot: Boot = Box::new(move |_| Box::new(Mysql::new(config, &disk)));
        served.push(Member { role: "mysql", boot, files, listener });
    }
    Serving::start(served)
}
