//! The table of coordinators, with the servers, addresses, machines and recovery time of each.

pub(crate) mod chubby;
pub(crate) mod ensemble;
pub(crate) mod etcd;
pub(crate) mod gemfire;
pub(crate) mod memcached;
pub(crate) mod mysql;
mod own;
pub(crate) mod postgresql;
pub(crate) mod redis;
pub(crate) mod serving;
pub(crate) mod zookeeper;

use crate::setup::scenario::{Factory, Scenario};
use bytes::Bytes;
use fencepost_clients::{Address, Coordinator, Definition, ServerLock, Servers};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Families, Family, FaultKind, Micros, Node, Seed};

pub struct Entry {
    pub coordinator: Coordinator,
    pub about: &'static str,
    pub port: u16,
    /// Fault families that never draw a fault for this coordinator.
    pub undrawn_families: &'static [Family],
    pub(crate) unsupported_faults: &'static [FaultKind],
    /// Maximum time by which a lease may end early, because the server counts in coarse units.
    pub tick: Micros,
    pub(crate) topology: fn(&Scenario, &Definition, &Families) -> Topology,
    pub(crate) machine: fn(&ServerSetup<'_>, Node) -> Factory,
    pub(crate) servers: fn(&ServerSetup<'_>, process: Node) -> Servers,
    pub(crate) lease: fn(ttl: Micros) -> Micros,
    pub(crate) recovery: fn(&Scenario, Topology) -> Micros,
}

pub(crate) struct ServerSetup<'r> {
    pub(crate) seed: Seed,
    pub(crate) scenario: &'r Scenario,
    pub(crate) topology: Topology,
    pub(crate) tap_prefix: Option<Bytes>,
    pub(crate) lock: &'r str,
    pub(crate) server_lock: ServerLock,
}

impl ServerSetup<'_> {
    fn is_for_program(&self) -> bool {
        self.tap_prefix.as_ref().is_some_and(Bytes::is_empty)
    }

    fn tap_text(&self) -> Option<String> {
        self.tap_prefix.as_deref().map(|keys| String::from_utf8_lossy(keys).into_owned())
    }
}

pub static COORDINATORS: &[Entry] = &[
    redis::ENTRY,
    memcached::ENTRY,
    zookeeper::ENTRY,
    postgresql::ENTRY,
    mysql::ENTRY,
    etcd::ENTRY,
    chubby::ENTRY,
    gemfire::ENTRY,
];

impl Scenario {
    pub fn topology(&self, client: &Definition, families: &Families) -> Topology {
        (entry(client.deployment.coordinator()).topology)(self, client, families)
    }
}

pub fn entry(coordinator: Coordinator) -> &'static Entry {
    match coordinator {
        Coordinator::Redis => &redis::ENTRY,
        Coordinator::Memcached => &memcached::ENTRY,
        Coordinator::ZooKeeper => &zookeeper::ENTRY,
        Coordinator::PostgreSql => &postgresql::ENTRY,
        Coordinator::MySql => &mysql::ENTRY,
        Coordinator::Etcd => &etcd::ENTRY,
        Coordinator::Chubby => &chubby::ENTRY,
        Coordinator::GemFire => &gemfire::ENTRY,
        Coordinator::Own => &own::ENTRY,
    }
}

fn address(node: Node, port: u16) -> Address {
    Address { host: node.to_string(), port }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunSpec;
    use crate::setup::scenario::Strategy;
    use fencepost_clients::{CLIENTS, Deployment};
    use fencepost_faults::FAMILIES;
    use std::rc::Rc;

    #[test]
    fn the_table_holds_every_coordinator_once() {
        let listed: Vec<Coordinator> = COORDINATORS.iter().map(|entry| entry.coordinator).collect();
        assert_eq!(listed, Coordinator::ALL);
        for coordinator in Coordinator::ALL {
            assert_eq!(entry(*coordinator).coordinator, *coordinator);
        }
    }

    fn drawn(lock: &'static Definition, family: Family) -> usize {
        let scenario = Scenario { strategy: Strategy::Uniform, ..Scenario::default() };
        let (scenario, families) = (Rc::new(scenario), Families::from(family));
        let draw = |seed| RunSpec::draw(Seed(seed), lock, &families, scenario.clone());
        (0..100).map(|seed| draw(seed).plan.faults.len()).sum()
    }

    #[test]
    fn no_fault_is_drawn_where_a_family_means_nothing_and_some_are_elsewhere() {
        for lock in CLIENTS.iter().filter(|lock| lock.deployment != Deployment::Independent) {
            let entry = entry(lock.deployment.coordinator());
            for family in FAMILIES.iter().filter(|family| **family != Family::None) {
                let means_nothing = entry.undrawn_families.contains(family);
                assert_eq!(drawn(lock, *family) == 0, means_nothing, "{} {family}", lock.name);
            }
        }
    }
}
