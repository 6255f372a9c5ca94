use crate::diagnosis::Target;
use fencepost_reports::Kind;

pub struct Exhibit {
    pub name: &'static str,
    pub title: &'static str,
    pub question: &'static str,
    pub protocol: [&'static str; 5],
    pub run: Run,
    /// Changes to the built-in scenario, as in `--set`.
    pub settings: &'static [(&'static str, &'static str)],
    pub target: Target,
    pub remedy: &'static str,
    pub fixed: Option<Fixed>,
    pub source: &'static str,
}

pub struct Run {
    pub client: &'static str,
    pub fault: &'static str,
    pub seed: u64,
}

/// A lock and settings that should prevent violations of `kind`.
pub struct Fixed {
    pub client: &'static str,
    pub settings: &'static [(&'static str, &'static str)],
    pub kind: Kind,
}

pub(super) const KLEPPMANN: &str = "Martin Kleppmann, *How to do distributed locking*, 2016.";
pub(super) const REDIS: &str = "Redis documentation, *Distributed Locks with Redis*.";
pub(super) const SETNX: &str =
    "Redis documentation of `SETNX`, *Design pattern: Locking with SETNX*.";

pub(super) const SINGLE: [&str; 5] = [
    "Acquire: `SET key random NX PX ttl`. The lock is granted if the key did not exist.",
    "If the lock is not granted, wait for a random delay and try again.",
    "Read the guarded value, work on it, write it back.",
    "Release: a script runs `DEL` if the key still holds the process's random value.",
    "The server deletes the key when the ttl ends, even if the holder is still working.",
];
pub(super) const REDLOCK: [&str; 5] = [
    "Note the time, then send `SET key random NX PX ttl` to five independent masters, with a short \
     timeout for each.",
    "The lock is granted if three masters agree and the elapsed time is less than the ttl.",
    "The lock is valid for the ttl minus the elapsed time, minus 1 % and 2 ms for clock drift.",
    "To release, or if the lock is not granted: on all five masters, run a script that deletes the \
     key if it holds the process's value.",
    "If the lock is not granted, wait for a random delay and try again.",
];
pub(super) const FENCING: [&str; 5] = [
    "Acquire: one script runs `SET key random NX PX ttl` and, if that succeeds, `INCR` on a \
     counter. The result is the token.",
    "Every request to the storage carries the token.",
    "The storage remembers the highest token and rejects any request with a lower one.",
    "Release: a script runs `DEL` if the key still holds the process's random value.",
    "The counter is never deleted.",
];
