use super::exhibit::{Exhibit, Fixed, Run};
use crate::diagnosis::Target;
use fencepost_reports::{Cause, Kind};

const MEMBER: [&str; 5] = [
    "Each process is a member of the distributed system and sends heartbeats to it.",
    "Lock, as `GemfireLockRegistry` does: one server, the grantor, decides, and remembers which \
     member has the lock.",
    "Read the guarded value, work on it, write it back.",
    "Unlock: the grantor gives the lock to the next waiter.",
    "A member that is silent for 2.5 member timeouts departs, and its locks are released.",
];
const LEASE: [&str; 5] = [
    MEMBER[0],
    "Call `DistributedLockService.lock(name, wait, lease)`: the grantor decides.",
    MEMBER[2],
    MEMBER[3],
    "The lock ends when its lease does, by the grantor's wall clock. `lock` returned only `true`.",
];
const OVERRUN: &[(&str, &str)] = &[("hold", "11s..19s")];
const CUT_OFF: &[(&str, &str)] =
    &[("cycles", "8"), ("hold", "11s..19s"), ("partition", "12s..20s"), ("struck-servers", "3")];

pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "gemfire-departure",
        title: "A member that departs during a pause",
        question: "GemFire releases the locks of a member that stops answering. What does that \
                   member do when it continues?",
        protocol: MEMBER,
        run: Run { client: "gemfire", fault: "pause", seed: 0 },
        settings: &[],
        target: Target { kind: Kind::LostUpdate, cause: Cause::SessionExpired },
        remedy: "Use a fencing token that the storage checks: a counter in the GLOBAL region, \
                 which each holder increments.",
        fixed: Some(Fixed { client: "gemfire-token", settings: &[], kind: Kind::LostUpdate }),
        source: "Spring Integration 5.5, `GemfireLockRegistry`; Apache Geode 1.15 documentation, \
                 *Failure Detection and Membership Views*. The simulated servers are a model that \
                 we compared with real members.",
    },
    Exhibit {
        name: "gemfire-return",
        title: "A member that departs and returns",
        question: "The network separates a member from the servers, and later it joins them again. \
                   What has it done in between?",
        protocol: MEMBER,
        run: Run { client: "gemfire", fault: "partition", seed: 2 },
        settings: CUT_OFF,
        target: Target { kind: Kind::LostUpdate, cause: Cause::SessionExpired },
        remedy: "Use a fencing token that the storage checks: a counter in the GLOBAL region, \
                 which each holder increments.",
        fixed: Some(Fixed { client: "gemfire-token", settings: CUT_OFF, kind: Kind::LostUpdate }),
        source: "Apache Geode 1.15 documentation, *Handling Forced Cache Disconnection Using \
                 Autoreconnect*. The simulated servers are a model that we compared with real \
                 members.",
    },
    Exhibit {
        name: "gemfire-lease",
        title: "A lease that ends while its holder works",
        question: "GemFire's lock can have a lease time. Does the holder notice when it ends?",
        protocol: LEASE,
        run: Run { client: "gemfire-lease", fault: "none", seed: 0 },
        settings: OVERRUN,
        target: Target { kind: Kind::Overlap, cause: Cause::HoldTooLong },
        remedy: "Use a lease that is longer than any work. A lock of `GemfireLockRegistry` lasts for \
                 the cache's `lock-lease`, 120 s by default.",
        fixed: Some(Fixed { client: "gemfire", settings: OVERRUN, kind: Kind::Overlap }),
        source: "Apache Geode 1.15, `DistributedLockService.lock(Object, long, long)`. The \
                 simulated servers are a model that we compared with real members.",
    },
];
