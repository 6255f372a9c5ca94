//! More exhibits: mistakes of single protocols that the canonical ones avoid, and effects of a
//! storage or a queue.

use super::exhibit::{Exhibit, FENCING, Fixed, KLEPPMANN, REDIS, REDLOCK, SETNX, SINGLE};
use fencepost_reports::{Cause, Kind};

const WATCHDOG: [&str; 5] = [
    "`SET key random NX PX ttl`, then a task beside the holder.",
    "Every third of the ttl the task sets the expiry anew, by a script, while the key holds the \
     own value.",
    "Read the guarded value, work, write it back.",
    "The task is stopped, then a script deletes the key while it holds the own value.",
    "The task ends with the process.",
];
const GETSET: [&str; 5] = [
    "`SETNX key time`: granted if the key was not there.",
    "Not granted: `GET`; if the time in it is older than the ttl, `GETSET key time`.",
    "Taken over if `GETSET` returns the stale time, and not another waiter's.",
    "Every process judges the age by its own clock.",
    "Release: `DEL key`.",
];

pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "held-forever",
        title: "A holder that does not come back",
        question: "A watchdog renews the lease of a process that hangs in its business code. Who \
         takes the lock away?",
        protocol: WATCHDOG,
        client: "watchdog",
        fault: "none",
        settings: &[("hang", "10m"), ("held-bound", "80s")],
        seed: 0,
        kind: Kind::HeldForever,
        cause: Cause::HoldTooLong,
        remedy: "The watchdog stops renewing after a number of leases: a lock then outlives a \
         hanging holder by that, and no more.",
        fixed: Some(Fixed {
            client: "watchdog-capped",
            settings: &[("hang", "10m"), ("held-bound", "80s")],
            kind: Kind::HeldForever,
        }),
        source: "Redis documentation, *Distributed Locks with Redis*, section *Extending the \
         lock*: the number of reacquisitions should be limited.",
    },
    Exhibit {
        name: "check-then-write",
        title: "A storage that looks, and writes later",
        question: "The storage checks every token. Is that enough if the check and the write are \
         two steps?",
        protocol: FENCING,
        client: "fencing",
        fault: "none",
        settings: &[("storage", "check-then-write"), ("processes", "6"), ("hold", "10s..10.050s")],
        seed: 0,
        kind: Kind::LostUpdate,
        cause: Cause::HoldTooLong,
        remedy: "The comparison and the write are one step of the storage: one statement, or one \
         transaction.",
        fixed: Some(Fixed {
            client: "fencing",
            settings: &[("processes", "6"), ("hold", "10s..10.050s")],
            kind: Kind::LostUpdate,
        }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "check-before-write",
        title: "A look at the lock just before the write",
        question: "The holder asks whether the lock is still its own, and only then writes. What \
         if the write arrives late?",
        protocol: [
            "`SET key random NX PX ttl`: granted if the key was not there.",
            "Read the guarded value, work.",
            "`GET key`: if it does not hold the own value, the write is left out.",
            "Write the value back.",
            "Release by a script: `DEL` only while the key holds the own random value.",
        ],
        client: "checked",
        fault: "storage-delay",
        settings: &[],
        seed: 1,
        kind: Kind::StaleWrite,
        cause: Cause::StorageDelay,
        remedy: "The check has to be where the write is: a fencing token that the storage \
         compares.",
        fixed: Some(Fixed { client: "fencing", settings: &[], kind: Kind::StaleWrite }),
        source: "Martin Kleppmann, *How to do distributed locking*, 2016: a check just before the \
         write does not help.",
    },
    Exhibit {
        name: "split-votes",
        title: "Five masters, and no majority for longer than a lease",
        question: "Every process gets the votes of one or two masters, gives them back and tries \
         again after the same delay. When does one get three?",
        protocol: [
            REDLOCK[0],
            REDLOCK[1],
            REDLOCK[2],
            REDLOCK[3],
            "Not granted: wait for a delay that is always the same (`retry=50ms`) and try again.",
        ],
        client: "redlock",
        fault: "none",
        settings: &[
            ("processes", "4"),
            ("cycles", "3"),
            ("hold", "10ms"),
            ("think", "0us"),
            ("latency", "2ms"),
            ("retry", "50ms"),
            ("masters-order", "rotated"),
        ],
        seed: 0,
        kind: Kind::Stuck,
        cause: Cause::Interleaving,
        remedy: "A random delay between two attempts. `fencepost boundary --vary retry-spread` \
         measures how random it has to be.",
        fixed: Some(Fixed {
            client: "redlock",
            settings: &[
                ("processes", "4"),
                ("cycles", "3"),
                ("hold", "10ms"),
                ("think", "0us"),
                ("latency", "2ms"),
                ("retry", "0us..100ms"),
                ("masters-order", "rotated"),
            ],
            kind: Kind::Stuck,
        }),
        source: "Redis documentation, *Distributed Locks with Redis*, section *Retry on Failure*.",
    },
    Exhibit {
        name: "dead-waiter",
        title: "A dead process in the queue",
        question: "A fair lock serves its waiters in order. What if the one whose turn it is has \
         died?",
        protocol: [
            "One script takes the lock, if it is free and the own place in the queue is the first.",
            "Otherwise the process enters the queue, with the time until which its place is kept.",
            "Whoever asks removes those from the head of the queue whose time has passed.",
            "A release tells the first of the queue by a message.",
            "A process that dies leaves its place as it is.",
        ],
        client: "redisson-fair",
        fault: "client-crash",
        settings: &[],
        seed: 1,
        kind: Kind::Stuck,
        cause: Cause::WaiterCrash,
        remedy: "A shorter time for which a place is kept, or a lock without a queue.",
        fixed: Some(Fixed { client: "redisson", settings: &[], kind: Kind::Stuck }),
        source: "Redisson documentation, *Fair lock*: a dead waiter is waited for.",
    },
    Exhibit {
        name: "random-tokens",
        title: "Tokens without an order",
        question: "Redlock draws a random value for every lock. Why not send it to the storage as \
         a token?",
        protocol: REDLOCK,
        client: "redlock-fencing",
        fault: "none",
        settings: &[],
        seed: 0,
        kind: Kind::TokenRegression,
        cause: Cause::UnorderedTokens,
        remedy: "Tokens from one counter that grows with every grant, and is not lost.",
        fixed: Some(Fixed { client: "fencing", settings: &[], kind: Kind::TokenRegression }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "longer-than-the-lease",
        title: "Work that takes longer than the lease",
        question: "A lock is taken for ten seconds, and the work takes longer. What does the next \
         process find?",
        protocol: SINGLE,
        client: "single-node",
        fault: "none",
        settings: &[("hold", "11s..19s")],
        seed: 0,
        kind: Kind::Overlap,
        cause: Cause::HoldTooLong,
        remedy: "A task that renews the lease while the holder works, or a holder that looks at \
         the clock.",
        fixed: Some(Fixed {
            client: "watchdog",
            settings: &[("hold", "11s..19s")],
            kind: Kind::Overlap,
        }),
        source: REDIS,
    },
    Exhibit {
        name: "a-time-is-no-owner",
        title: "A release that looks at a time",
        question: "The key holds the end of the lease, and DEL is sent only before that end. \
         Whose lease?",
        protocol: [
            "`SETNX key end-of-lease`: granted if the key was not there.",
            "Not granted: `GET`; if that time has passed, `GETSET key end-of-lease`.",
            "Taken over if `GETSET` returns a time that has passed.",
            "Read the guarded value, work, write it back.",
            "Release: `DEL key` if `GET` shows a time that has not passed.",
        ],
        client: "setnx-getset-expiry",
        fault: "none",
        settings: &[("hold", "11s..19s")],
        seed: 0,
        kind: Kind::ForeignRelease,
        cause: Cause::HoldTooLong,
        remedy: "The key holds an owner too, and the release compares it by a script.",
        fixed: Some(Fixed {
            client: "setnx-getset-expiry-owner",
            settings: &[("hold", "11s..19s")],
            kind: Kind::ForeignRelease,
        }),
        source: SETNX,
    },
    Exhibit {
        name: "clocks-of-clients",
        title: "A lock that is as old as a clock says",
        question: "A waiter judges by its own clock whether a lock is stale. What if that clock \
         is stepped?",
        protocol: GETSET,
        client: "setnx-getset",
        fault: "clock-jump",
        settings: &[],
        seed: 24,
        kind: Kind::Overlap,
        cause: Cause::ClockJump,
        remedy: "One clock decides: an expiry at the server, or the server's `TIME`.",
        fixed: None,
        source: SETNX,
    },
    Exhibit {
        name: "number-twice",
        title: "An order number that is issued twice",
        question: "Numbers are read, counted up and written back under a lock. What does a pause \
         cost?",
        protocol: SINGLE,
        client: "single-node",
        fault: "pause",
        settings: &[("workload", "sequence")],
        seed: 15,
        kind: Kind::DuplicateNumber,
        cause: Cause::HolderPause,
        remedy: "The storage counts by itself, or compares a fencing token.",
        fixed: Some(Fixed {
            client: "fencing",
            settings: &[("workload", "sequence")],
            kind: Kind::DuplicateNumber,
        }),
        source: KLEPPMANN,
    },
];
