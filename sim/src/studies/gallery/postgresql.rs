use super::exhibit::{Exhibit, Fixed, Run};
use crate::diagnosis::Target;
use fencepost_reports::{Cause, Kind};

const ROW: [&str; 5] = [
    "In one transaction, `UPDATE` the row if it has the process's own client id or has expired by \
     the process's own clock; if no row changed, `INSERT` one.",
    "The row holds its expiry time: the process's own clock plus the ttl.",
    "If neither statement changed a row, sleep for 100 ms and try again.",
    "Read the guarded value, work on it, write it back.",
    "Release: `DELETE` the row if it has the process's own client id.",
];
const SHEDLOCK: [&str; 5] = [
    "Acquire: `INSERT` the row if it does not exist; otherwise `UPDATE` it if it has expired by \
     the database's clock.",
    "The row holds its expiry time: the database's clock plus the ttl.",
    "If neither statement changed a row, wait for a random delay and try again.",
    "Read the guarded value, work on it, write it back.",
    "Release: `UPDATE` the row so that it expires now.",
];
const ADVISORY: [&str; 5] = [
    "Acquire: `SELECT pg_try_advisory_lock(n)` returns true if no other session has the lock.",
    "If it returns false, wait for a random delay and try again.",
    "Read the guarded value, work on it, write it back.",
    "Release: `SELECT pg_advisory_unlock(n)` on the same connection.",
    "The server frees the lock when the session ends, that is, when its connection closes.",
];

pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "postgresql-fast-clock",
        title: "A fast clock takes a row",
        question: "A database is durable and consistent. Is a lock in one of its tables safe?",
        protocol: ROW,
        run: Run { client: "jdbc-7", fault: "clock-jump", seed: 3 },
        settings: &[],
        target: Target { kind: Kind::LostUpdate, cause: Cause::ClockSkew },
        remedy: "Let the database write and compare the time, as ShedLock does with usingDbTime(). \
                 Then only the database's clock matters.",
        fixed: None,
        source: "Spring Integration 7.0, `DefaultLockRepository.acquire`.",
    },
    Exhibit {
        name: "postgresql-one-client-id",
        title: "One client id for all",
        question: "Someone sets the lock registry's client id to the application's name. Does the \
                   lock still exclude anyone?",
        protocol: ROW,
        run: Run { client: "jdbc-5-app-id", fault: "none", seed: 0 },
        settings: &[],
        target: Target { kind: Kind::LostUpdate, cause: Cause::SharedClientId },
        remedy: "Let the library choose the client id: it draws a random one at each start.",
        fixed: Some(Fixed { client: "jdbc-5", settings: &[], kind: Kind::LostUpdate }),
        source: "Spring Integration 5.5, `DefaultLockRepository(DataSource, String)`.",
    },
    Exhibit {
        name: "postgresql-lost-connection",
        title: "A lock tied to its connection",
        question: "An advisory lock has no ttl that could expire. Can its holder still lose it?",
        protocol: ADVISORY,
        run: Run { client: "pg-advisory", fault: "restart", seed: 0 },
        settings: &[],
        target: Target { kind: Kind::LostUpdate, cause: Cause::ConnectionLost },
        remedy: "Write the guarded data over the connection that holds the lock, so that the write \
                 fails if the lock is lost. A lock stored in a table row survives a restart, but \
                 it needs a ttl, and so can expire while its holder is still working.",
        fixed: Some(Fixed { client: "shedlock-db-time", settings: &[], kind: Kind::LostUpdate }),
        source: "PostgreSQL 15 documentation, *Advisory Locks*.",
    },
    Exhibit {
        name: "postgresql-failover",
        title: "A commit that never reached the standby",
        question: "An operator promotes a database's standby. Is a lock in one of its tables safe?",
        protocol: SHEDLOCK,
        run: Run { client: "shedlock-db-time", fault: "failover", seed: 18 },
        settings: &[("old-primary", "stopped")],
        target: Target { kind: Kind::LostUpdate, cause: Cause::AsyncReplicationLoss },
        remedy: "Make each commit wait until the standby has it (`synchronous_standby_names`), and \
                 stop the old primary before promoting the standby.",
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
        question: "The standby has every commit before the primary answers the client. Does the \
                   standby have the advisory locks too?",
        protocol: ADVISORY,
        run: Run { client: "pg-advisory", fault: "failover", seed: 2 },
        settings: &[("standby", "synchronous"), ("old-primary", "stopped")],
        target: Target { kind: Kind::LostUpdate, cause: Cause::FailoverForgets },
        remedy: "Keep the lock in a row: a synchronous standby has the row before the commit is \
                 acknowledged.",
        fixed: Some(Fixed {
            client: "shedlock-db-time",
            settings: &[("standby", "synchronous"), ("old-primary", "stopped")],
            kind: Kind::LostUpdate,
        }),
        source: "PostgreSQL 15 documentation, *Advisory Locks* and *Log-Shipping Standby Servers*.",
    },
];
