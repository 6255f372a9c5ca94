//! An exhibit: an anomaly is one entry in the table of its coordinator, with the seed that shows
//! it.

use fencepost_reports::{Cause, Kind};

/// An anomaly with the run that shows it.
pub struct Exhibit {
    /// The name of its file.
    pub name: &'static str,
    /// A short title.
    pub title: &'static str,
    /// A newcomer's question about it.
    pub question: &'static str,
    /// The protocol, in five lines.
    pub protocol: [&'static str; 5],
    /// The lock.
    pub client: &'static str,
    /// The faults.
    pub fault: &'static str,
    /// Changes to the built-in scenario, as for `--set`.
    pub settings: &'static [(&'static str, &'static str)],
    /// The seed.
    pub seed: u64,
    /// The broken rule.
    pub kind: Kind,
    /// The cause.
    pub cause: Cause,
    /// The remedy.
    pub remedy: &'static str,
    /// The lock in which it is fixed, if one is built in.
    pub fixed: Option<Fixed>,
    /// The source that described it.
    pub source: &'static str,
}

/// A lock and settings that keep a rule which the exhibit breaks.
pub struct Fixed {
    /// The lock.
    pub client: &'static str,
    /// Changes to the built-in scenario.
    pub settings: &'static [(&'static str, &'static str)],
    /// The rule.
    pub kind: Kind,
}

pub(super) const KLEPPMANN: &str = "Martin Kleppmann, *How to do distributed locking*, 2016.";
pub(super) const REDIS: &str = "Redis documentation, *Distributed Locks with Redis*.";
pub(super) const SETNX: &str =
    "Redis documentation of `SETNX`, *Design pattern: Locking with SETNX*.";

pub(super) const SINGLE: [&str; 5] = [
    "`SET key random NX PX ttl`: granted if the key was not there.",
    "Not granted: wait a random delay and try again.",
    "Read the guarded value, work, write it back.",
    "Release by a script: `DEL` only while the key holds the own random value.",
    "The server forgets the key when the ttl is over, whatever the holder does.",
];
pub(super) const REDLOCK: [&str; 5] = [
    "Note the time; `SET key random NX PX ttl` on five independent masters, with a small timeout \
     each.",
    "Granted if three of them agree and the time spent is less than the ttl.",
    "Valid for the ttl, less the time spent, less 1 % and 2 ms for clocks that drift.",
    "Otherwise, and to release: a script on all five deletes the own value.",
    "Not granted: wait a random delay and try again.",
];
pub(super) const FENCING: [&str; 5] = [
    "One script: `SET key random NX PX ttl`, and if that is granted, `INCR` of a counter gives \
     the token.",
    "Every request to the storage carries the token.",
    "The storage remembers the highest token, and rejects any request with a lower one.",
    "Release by a script: `DEL` only while the key holds the own random value.",
    "The counter is never deleted.",
];
