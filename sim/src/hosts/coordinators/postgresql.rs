use super::serving::{Served, bound};
use super::{Entry, ServerSetup, address};
use crate::setup::scenario::program::ProgramDeployment;
use crate::setup::scenario::{Factory, OldPrimary, Scenario, Standby};
use fencepost_clients::sql::advisory::number;
use fencepost_clients::{Coordinator, Definition, Servers};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Families, Family, FaultKind, Micros, Node, Stream};
use fencepost_postgresql::{Config, HeldWhen, LockTable, Postgresql, Replication, Watch};
use rand_core::Rng;

const PORT: u16 = 5_432;

pub(super) const ENTRY: Entry = Entry {
    coordinator: Coordinator::PostgreSql,
    about: "PostgreSQL 15: one server with durable commits, or a primary with a standby",
    port: PORT,
    undrawn_families: &[Family::Eviction, Family::Operator],
    unsupported_faults: &[FaultKind::FlushAll, FaultKind::Evict, FaultKind::Operator],
    topology,
    machine,
    servers,
    lease: |ttl| ttl,
    tick: Micros::ZERO,
    recovery,
};

fn topology(scenario: &Scenario, client: &Definition, families: &Families) -> Topology {
    let wants_standby = |family| matches!(family, Family::Failover | Family::ReplicationLag);
    let of_program = scenario.program(client).map(|program| program.deployment);
    let is_requested =
        scenario.servers.standby.is_some() || of_program == Some(ProgramDeployment::Standby);
    if !is_requested && !families.chosen().any(wants_standby) {
        return Topology::Ensemble { servers: 1 };
    }
    let stopped_per_mille = match scenario.servers.old_primary {
        OldPrimary::Drawn => 500,
        OldPrimary::Stopped => 1_000,
        OldPrimary::Running => 0,
    };
    Topology::Standby { stopped_per_mille }
}

fn replication(setup: &ServerSetup<'_>, node: Node) -> Replication {
    match (setup.topology, node) {
        (Topology::Standby { .. }, Node::Server(2)) => {
            Replication::Standby { primary: (Node::Server(1).to_string(), PORT) }
        }
        (Topology::Standby { .. }, _) => Replication::Primary {
            synchronous: setup.scenario.servers.standby == Some(Standby::Synchronous),
        },
        _ => Replication::None,
    }
}

const SCHEMA: &str = "
CREATE TABLE INT_LOCK (LOCK_KEY CHAR(36) NOT NULL, REGION VARCHAR(100) NOT NULL,
    CLIENT_ID CHAR(36), CREATED_DATE TIMESTAMP NOT NULL,
    constraint INT_LOCK_PK primary key (LOCK_KEY, REGION));
CREATE TABLE INT7_LOCK (LOCK_KEY CHAR(36) NOT NULL, REGION VARCHAR(100) NOT NULL,
    CLIENT_ID CHAR(36), CREATED_DATE TIMESTAMP NOT NULL, EXPIRED_AFTER TIMESTAMP NOT NULL,
    constraint INT7_LOCK_PK primary key (LOCK_KEY, REGION));
CREATE TABLE shedlock (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL,
    locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name));
CREATE TABLE locks (name VARCHAR(64) PRIMARY KEY);";

pub(crate) fn schema(lock: &str) -> String {
    format!("{SCHEMA} INSERT INTO locks VALUES ('{}')", lock.replace('\'', "''"))
}

fn watch(prefix: &str, lock: &str, ttl: Micros) -> Watch {
    let ttl_us = i64::try_from(ttl.0).unwrap_or(i64::MAX);
    let spring = |table, stamp, ttl_us| LockTable {
        table,
        key: "lock_key",
        held: HeldWhen::Present { owner: "client_id", stamp, ttl_us },
    };
    let shedlock =
        HeldWhen::Taken { owner: "locked_by", at: "locked_at", until: "lock_until", ttl_us };
    Watch {
        prefix: prefix.to_owned(),
        tables: vec![
            spring("int_lock", "created_date", ttl_us),
            spring("int7_lock", "expired_after", 0),
            LockTable { table: "shedlock", key: "name", held: shedlock },
            LockTable { table: "locks", key: "name", held: HeldWhen::ForUpdate },
        ],
        advisory: (number(lock), lock.to_owned()),
    }
}

fn machine(setup: &ServerSetup<'_>, node: Node) -> Factory {
    let seed = setup.seed.stream(Stream::Server(node)).next_u64();
    let ttl = setup.scenario.ttl.0;
    let watch = setup.tap_text().map(|prefix| watch(&prefix, setup.lock, ttl));
    let (schema, replication) = (schema(setup.lock), replication(setup, node));
    let config = Config { seed, schema, watch, replication, ..Config::default() };
    Box::new(move |disk, now| Box::new(Postgresql::new(config.clone(), &disk, now)))
}

fn servers(setup: &ServerSetup<'_>, _: Node) -> Servers {
    let servers = setup.scenario.setting(setup.topology).servers();
    Servers::Ensemble(servers.into_iter().map(|server| address(server, PORT)).collect())
}

/// The server detects a deadlock after 1 s (`deadlock_timeout`). A standby sends a status every
/// 10 s, which shows that a connection is lost, and may take 5 s to reconnect.
fn recovery(_: &Scenario, topology: Topology) -> Micros {
    match topology {
        Topology::Standby { .. } => Micros::from_secs(1 + 10 + 5),
        _ => Micros::from_secs(1),
    }
}

/// For tests only: the secrets for cancelling queries are predictable.
pub(crate) fn served(clients_max: Option<u32>) -> Served {
    Served::single("postgresql", move |seat| {
        let default = Config::default();
        let clients_max = bound(clients_max, default.clients_max);
        Postgresql::new(Config { clients_max, ..default }, &seat.disk, seat.now)
    })
}
