//! Exhibits of locks on Chubby.

use super::exhibit::{Exhibit, Fixed};
use fencepost_reports::{Cause, Kind};

/// The exhibits of this file, in the order of the index.
pub(super) const EXHIBITS: &[Exhibit] = &[Exhibit {
    name: "chubby-lock-delay",
    title: "A write that comes later than the lock-delay",
    question: "Chubby keeps a lock from everybody for a minute if its holder fails. Is a write \
               safe that comes later?",
    protocol: [
        "A session, which a KeepAlive extends by 12 s each time that the master answers it.",
        "Acquire the lock with a lock-delay of a minute.",
        "Read the guarded value, work, write it back.",
        "Release: the lock is free immediately.",
        "If the session ends first, nobody gets the lock until the lock-delay is over.",
    ],
    client: "chubby",
    fault: "pause",
    settings: &[("pause", "85s..100s")],
    seed: 2,
    kind: Kind::LostUpdate,
    cause: Cause::SessionExpired,
    remedy: "A sequencer, which the storage checks: it holds the number of times that the lock \
             went from free to held.",
    fixed: Some(Fixed { client: "chubby-sequencer", settings: &[], kind: Kind::LostUpdate }),
    source: "Burrows, *The Chubby lock service for loosely-coupled distributed systems*, OSDI \
             2006, section 2.4. The cell is a model after the paper.",
}];
