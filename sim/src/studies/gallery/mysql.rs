//! Exhibits of locks on MySQL.

use super::exhibit::{Exhibit, Fixed};
use fencepost_reports::{Cause, Kind};

const GET_LOCK: [&str; 5] = [
    "`SELECT GET_LOCK(name, seconds)`: waits in the server until no other connection has it.",
    "Its value is 1; 0 says that the time is over.",
    "Read the guarded value, work, write it back.",
    "Release: `SELECT RELEASE_LOCK(name)`, on the same connection.",
    "The server frees the lock when the session ends, that is, the connection.",
];

pub(super) const EXHIBITS: &[Exhibit] = &[Exhibit {
    name: "mysql-restarted",
    title: "GET_LOCK and a restart",
    question: "GET_LOCK never expires, and its holder is not paused. Why do two hold it?",
    protocol: GET_LOCK,
    client: "mysql-get-lock",
    fault: "restart",
    settings: &[],
    seed: 1,
    kind: Kind::LostUpdate,
    cause: Cause::ConnectionLost,
    remedy: "Write to what the lock guards on the connection that has the lock: then the write \
             fails with it. To ask IS_USED_LOCK right before the write only makes the gap small. A \
             row survives a restart, but it has a ttl.",
    fixed: Some(Fixed { client: "shedlock-db-time", settings: &[], kind: Kind::LostUpdate }),
    source: "MySQL 8.0 reference manual, *Locking Functions*.",
}];
