//! Exhibits of locks on PostgreSQL.

use super::exhibit::{Exhibit, Fixed};
use fencepost_reports::{Cause, Kind};

const ROW: [&str; 5] = [
    "One transaction: `UPDATE` the row if it has the own client id or is expired by the own clock; \
     if that changed none, `INSERT` one.",
    "The row says when it is expired: the own clock and the ttl.",
    "No row changed: sleep for 100 ms and try again.",
    "Read the guarded value, work, write it back.",
    "Release: `DELETE` the row if it has the own client id.",
];
const SHEDLOCK: [&str; 5] = [
    "`INSERT` the row unless it is there; if it is, `UPDATE` it if its time is over by the clock \
     of the database.",
    "The row says until when it is locked: the clock of the database and the ttl.",
    "No row changed: wait a random delay and try again.",
    "Read the guarded value, work, write it back.",
    "Release: `UPDATE` the row, which is over from now on.",
];
const ADVISORY: [&str; 5] = [
    "`SELECT pg_try_advisory_lock(n)`: true if no other session has it.",
    "False: wait a random delay and try again.",
    "Read the guarded value, work, write it back.",
    "Release: `SELECT pg_advisory_unlock(n)`, on the same connection.",
    "The server frees the lock when the session ends, that is, the connection.",
];

pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "postgresql-fast-clock",
        title: "A fast clock takes a row",
        question: "A database is durable and consistent. Is a lock in a table of it safe?",
        protocol: ROW,
        client: "jdbc-7",
        fault: "clock-jump",
        settings: &[],
        seed: 3,
        kind: Kind::LostUpdate,
        cause: Cause::ClockSkew,
        remedy: "Let the database write and compare the time, as ShedLock does with usingDbTime(): \
         then one clock decides, and the clocks of its clients do not matter.",
        fixed: None,
        source: "Spring Integration 7.0, `DefaultLockRepository.acquire`.",
    },
    Exhibit {
        name: "postgresql-one-client-id",
        title: "One client id for all",
        question: "The client id of the lock registry is set to the application's name. What does \
         the lock do then?",
        protocol: ROW,
        client: "jdbc-5-app-id",
        fault: "none",
        settings: &[],
        seed: 0,
        kind: Kind::LostUpdate,
        cause: Cause::SharedClientId,
        remedy: "Leave the client id to the library, which draws a random one at each start.",
        fixed: Some(Fixed { client: "jdbc-5", settings: &[], kind: Kind::LostUpdate }),
        source: "Spring Integration 5.5, `DefaultLockRepository(DataSource, String)`.",
    },
    Exhibit {
        name: "postgresql-lost-connection",
        title: "A lock that goes with its connection",
        question: "An advisory lock has no ttl that could run out. Can its holder lose it?",
        protocol: ADVISORY,
        client: "pg-advisory",
        fault: "restart",
        settings: &[],
        seed: 0,
        kind: Kind::LostUpdate,
        cause: Cause::ConnectionLost,
        remedy: "Write to what the lock guards on the connection that has the lock: then the write \
         fails with it. A row survives a restart, but it has a ttl.",
        fixed: Some(Fixed { client: "shedlock-db-time", settings: &[], kind: Kind::LostUpdate }),
        source: "PostgreSQL 15 documentation, *Advisory Locks*.",
    },
    Exhibit {
        name: "postgresql-failover",
        title: "A commit that the standby never got",
        question: "An operator promotes the standby of a database. Is a lock in a table of it \
                   safe?",
        protocol: SHEDLOCK,
        client: "shedlock-db-time",
        fault: "failover",
        settings: &[("old-primary", "stopped")],
        seed: 18,
        kind: Kind::LostUpdate,
        cause: Cause::AsyncReplicationLoss,
        remedy: "Let a commit wait until the standby has it (`synchronous_standby_names`), and \
                 stop the old primary before the standby is promoted.",
        fixed: Some(Fixed {
            client: "shedlock-db-time",
            settings: &[("standby", "synchronous"), ("old-primary", "stopped")],
            kind: Kind::LostUpdate,
        }),
        source: "PostgreSQL 15 documentation, *Log-Shipping Standby Servers*, Synchronous \
                 Replication.",
    },
    Exhibit {
        name: "postgresql-advisory-failover",
        title: "A lock that no standby has",
        question: "The standby has every commit before it is answered. Does it have the advisory \
                   locks, too?",
        protocol: ADVISORY,
        client: "pg-advisory",
        fault: "failover",
        settings: &[("standby", "synchronous"), ("old-primary", "stopped")],
        seed: 2,
        kind: Kind::LostUpdate,
        cause: Cause::FailoverForgets,
        remedy: "Keep the lock in a row that the synchronous standby has before the commit is \
                 answered.",
        fixed: Some(Fixed {
            client: "shedlock-db-time",
            settings: &[("standby", "synchronous"), ("old-primary", "stopped")],
            kind: Kind::LostUpdate,
        }),
        source: "PostgreSQL 15 documentation, *Advisory Locks* and *Log-Shipping Standby Servers*.",
    },
];
