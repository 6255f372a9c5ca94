//! Exhibits of locks on GemFire.

use super::exhibit::{Exhibit, Fixed};
use fencepost_reports::{Cause, Kind};

/// The exhibits of this file, in the order of the index.
pub(super) const EXHIBITS: &[Exhibit] = &[Exhibit {
    name: "gemfire-departure",
    title: "A member that departs in a pause",
    question: "GemFire releases the locks of a member that it cannot reach. What does the member \
               do when it goes on?",
    protocol: [
        "A process is a member of the distributed system, and sends heartbeats to it.",
        "Lock, as GemfireLockRegistry does: the grantor decides, and remembers the member.",
        "Read the guarded value, work, write it back.",
        "Unlock: the grantor gives the lock to the next waiter.",
        "A member that is silent for 2.5 member timeouts departs, and its locks are released.",
    ],
    client: "gemfire",
    fault: "pause",
    settings: &[],
    seed: 0,
    kind: Kind::LostUpdate,
    cause: Cause::SessionExpired,
    remedy: "A fencing token, which the storage checks: a counter in a region with GLOBAL scope, \
             raised by each holder.",
    fixed: Some(Fixed { client: "gemfire-token", settings: &[], kind: Kind::LostUpdate }),
    source: "Spring Integration's GemfireLockRegistry; Apache Geode 1.15 documentation, *Failure \
             Detection and Membership Views*. The servers are a model, compared with real members.",
}];
