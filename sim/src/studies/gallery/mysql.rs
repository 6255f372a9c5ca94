use super::exhibit::{Exhibit, Fixed, Run};
use crate::diagnosis::Target;
use fencepost_reports::{Cause, Kind};

const GET_LOCK: [&str; 5] = [
    "Acquire: `SELECT GET_LOCK(name, seconds)` waits in the server until no other connection has \
     the lock.",
    "It returns 1 if the lock was granted, and 0 after a timeout.",
    "Read the guarded value, work on it, write it back.",
    "Release: `SELECT RELEASE_LOCK(name)` on the same connection.",
    "The server frees the lock when the session ends, that is, when its connection closes.",
];

pub(super) const EXHIBITS: &[Exhibit] = &[Exhibit {
    name: "mysql-restarted",
    title: "GET_LOCK and a restart",
    question: "A lock taken with GET_LOCK never expires, and its holder is not paused. Why do two \
               processes hold it?",
    protocol: GET_LOCK,
    run: Run { client: "mysql-get-lock", fault: "restart", seed: 1 },
    settings: &[],
    target: Target { kind: Kind::LostUpdate, cause: Cause::ConnectionLost },
    remedy: "Write the guarded data over the connection that holds the lock, so that the write \
             fails if the lock is lost. Checking IS_USED_LOCK just before the write only narrows \
             the gap. A lock stored in a table row survives a restart, but it needs a ttl, and so \
             can expire while its holder is still working.",
    fixed: Some(Fixed { client: "shedlock-db-time", settings: &[], kind: Kind::LostUpdate }),
    source: "MySQL 8.0 reference manual, *Locking Functions*.",
}];
