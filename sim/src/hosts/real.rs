//! Real servers: unmodified binaries as the machines of hosts (see ARCHITECTURE.md).

mod console;
mod etcd;
mod files;
mod folder;
mod http;
mod judged;
mod kind;
mod machine;
mod memcached;
mod mysql;
pub(crate) mod own;
mod peers;
mod postgresql;
mod redis;
pub(crate) mod trial;
mod work;
mod zookeeper;

use crate::hosts::programs::record::ProgramLives;
use crate::setup::scenario::own_server::aliases;
use crate::setup::scenario::{Factory, OwnServer, Persistence, Scenario, ServerBinary};
use bytes::Bytes;
use fencepost_clients::Coordinator;
use fencepost_faults::setting::Topology;
use fencepost_faults::{Micros, Node, Seed, Stream};
use fencepost_machine::ConnectionId;
use files::Files;
pub(crate) use kind::Kind;
use kind::Part;
use machine::RealServer;
use rand_core::Rng;
pub(crate) use redis::typed as redis_commands;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::rc::Rc;

pub(crate) static KINDS: &[Kind] =
    &[redis::KIND, memcached::KIND, zookeeper::KIND, postgresql::KIND, mysql::KIND, etcd::KIND];

pub(crate) fn kind(coordinator: Coordinator) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.coordinator == coordinator)
}

#[derive(Clone)]
pub(crate) struct RealWorld {
    pub(crate) addresses: Rc<BTreeMap<String, Ipv4Addr>>,
    aliases: Rc<BTreeMap<String, Ipv4Addr>>,
    pub(crate) lives: Rc<ProgramLives>,
    asked: Rc<RefCell<Vec<RequestRecord>>>,
}

type RequestRecord = ((Node, ConnectionId), Vec<u8>);

impl RealWorld {
    pub(crate) fn new(
        addresses: BTreeMap<String, Ipv4Addr>,
        own: &[OwnServer],
        lives: Rc<ProgramLives>,
    ) -> RealWorld {
        let aliases = Rc::new(aliases(own, &addresses));
        RealWorld { addresses: Rc::new(addresses), aliases, lives, asked: Rc::default() }
    }

    fn note_request(&self, server: Node, by: ConnectionId, request: &[u8]) {
        self.asked.borrow_mut().push(((server, by), request.to_vec()));
    }

    fn last_requester(&self, names: &[String]) -> Option<(Node, ConnectionId)> {
        let names_one = |request: &[u8]| {
            names.iter().any(|name| request.windows(name.len()).any(|it| it == name.as_bytes()))
        };
        let asked = self.asked.borrow();
        asked.iter().rev().find(|(_, request)| names_one(request)).map(|(who, _)| *who)
    }
}

pub(crate) struct RealSetup<'r> {
    pub(crate) world: &'r RealWorld,
    pub(crate) kind: &'static Kind,
    pub(crate) binary: &'r ServerBinary,
    pub(crate) own: &'r [OwnServer],
    pub(crate) scenario: &'r Scenario,
    pub(crate) topology: Topology,
    pub(crate) warm_up: Micros,
    pub(crate) seed: Seed,
    pub(crate) tap_prefix: Option<Bytes>,
    pub(crate) lock: &'r str,
}

const WARM_UP: Micros = Micros::from_secs(5);

/// From Redis 7, a primary waits 5 s (`repl-diskless-sync-delay`) before it sends a snapshot.
const REPLICATED_WARM_UP: Micros = Micros::from_secs(8);

pub(crate) fn warm_up(topology: Topology) -> Micros {
    match topology {
        Topology::Replicated { .. } => REPLICATED_WARM_UP,
        Topology::Standby { .. } => WARM_UP,
        Topology::Ensemble { servers } if servers > 1 => WARM_UP,
        Topology::Standalone | Topology::Independent { .. } | Topology::Ensemble { .. } => {
            Micros::ZERO
        }
    }
}

pub(crate) fn machine(setup: &RealSetup<'_>, node: Node) -> Factory {
    let mut seeds = setup.seed.stream(Stream::Server(node));
    let part = Part::of(setup, node);
    let mut files: Option<Rc<Files>> = None;
    Box::new(move |_, now| {
        let files = files.get_or_insert_with(|| Rc::new(Files::new(&part)));
        Box::new(RealServer::new(&part, files.clone(), seeds.next_u64(), now))
    })
}

impl Part {
    fn of(setup: &RealSetup<'_>, node: Node) -> Part {
        let scenario = setup.scenario;
        let servers = &scenario.servers;
        Part {
            node,
            kind: setup.kind,
            world: setup.world.clone(),
            binary: setup.binary.clone(),
            recipe: (setup.kind.recipe)(setup, node),
            tap_prefix: setup.tap_prefix.clone(),
            lock: setup.lock.to_owned(),
            warm_up: setup.warm_up,
            sync_us: scenario.timing.sync_time.0.0,
            torn: scenario.torn_writes(setup.seed, node),
            machine_seed: setup.seed.stream(Stream::Machine(node)).next_u64(),
            ttl: scenario.ttl.0,
            has_log: matches!(
                servers.persistence,
                Persistence::AofEverysec | Persistence::AofAlways
            ),
            disk_fails: scenario.timing.sync_fails.is_some()
                && servers.persistence != Persistence::None,
            min_replicas: servers.min_replicas,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::KINDS;
    use crate::setup::scenario::binaries::HAVE_SERVERS;

    #[test]
    fn each_kind_of_real_server_can_be_named() {
        let kinds: Vec<_> = KINDS.iter().map(|kind| kind.coordinator).collect();
        assert_eq!(kinds, HAVE_SERVERS);
    }
}
