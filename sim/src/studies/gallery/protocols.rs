use super::exhibit::{Exhibit, FENCING, Fixed, KLEPPMANN, REDIS, REDLOCK, Run, SETNX, SINGLE};
use crate::diagnosis::Target;
use fencepost_reports::{Cause, Kind};

const WATCHDOG: [&str; 5] = [
    "Acquire: `SET key random NX PX ttl`, then start a task that renews the lease.",
    "Every third of the ttl, the task runs a script that resets the expiry if the key holds the \
     process's own value.",
    "Read the guarded value, work on it, write it back.",
    "Release: stop the task, then run a script that deletes the key if it holds the process's own \
     value.",
    "The task runs until its process ends.",
];
const GETSET: [&str; 5] = [
    "Acquire: `SETNX key time`. The lock is granted if the key did not exist.",
    "If the lock is not granted, `GET` the key. If its time is older than the ttl, `GETSET key \
     time`.",
    "The process has taken the lock over if `GETSET` returns the stale time and not another \
     waiter's.",
    "Every process computes the age with its own clock.",
    "Release: `DEL key`.",
];

const CHECKING_FIRST: [&str; 5] = [
    FENCING[0],
    FENCING[1],
    "The storage compares the token of each request with the highest token so far, and rejects a \
     lower one. It performs a write in a later, separate step.",
    FENCING[3],
    FENCING[4],
];

pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "held-forever",
        title: "A holder that never finishes",
        question: "A watchdog renews the lease of a process that hangs in its own code. Who takes \
                   the lock away?",
        protocol: WATCHDOG,
        run: Run { client: "watchdog", fault: "none", seed: 0 },
        settings: &[("hang", "10m"), ("held-bound", "80s")],
        target: Target { kind: Kind::HeldForever, cause: Cause::HoldTooLong },
        remedy: "Make the watchdog stop renewing after a fixed number of leases. A holder that \
                 hangs then loses the lock after that many leases.",
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
        title: "Storage that checks first and writes later",
        question: "The storage checks every token. Is that enough if the check and the write are \
         two steps?",
        protocol: CHECKING_FIRST,
        run: Run { client: "fencing", fault: "none", seed: 0 },
        settings: &[("storage", "check-then-write"), ("processes", "6"), ("hold", "10s..10.050s")],
        target: Target { kind: Kind::LostUpdate, cause: Cause::HoldTooLong },
        remedy: "Compare and write in one step at the storage: in one statement, or in one \
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
        title: "A check of the lock just before the write",
        question: "The holder checks that it still owns the lock, and only then writes. What if \
                   the write arrives late?",
        protocol: [
            "Acquire: `SET key random NX PX ttl`. The lock is granted if the key did not exist.",
            "Read the guarded value, work on it.",
            "`GET key`: if it does not return the process's own value, skip the write.",
            "Write the value back.",
            "Release: a script runs `DEL` if the key still holds the process's random value.",
        ],
        run: Run { client: "checked", fault: "storage-delay", seed: 1 },
        settings: &[],
        target: Target { kind: Kind::StaleWrite, cause: Cause::StorageDelay },
        remedy: "Let the storage check each write: it compares the write's fencing token with the \
                 highest token that it has seen.",
        fixed: Some(Fixed { client: "fencing", settings: &[], kind: Kind::StaleWrite }),
        source: "Martin Kleppmann, *How to do distributed locking*, 2016: a check just before the \
         write does not help.",
    },
    Exhibit {
        name: "split-votes",
        title: "Five masters, and no majority for longer than a lease",
        question: "Every process gets the lock on one or two masters, releases it and tries again \
                   after the same delay. When does one process get three?",
        protocol: [
            REDLOCK[0],
            REDLOCK[1],
            REDLOCK[2],
            REDLOCK[3],
            "If the lock is not granted, wait for a constant delay (`retry=50ms`) and try again.",
        ],
        run: Run { client: "redlock", fault: "none", seed: 0 },
        settings: &[
            ("processes", "4"),
            ("cycles", "3"),
            ("hold", "10ms"),
            ("think", "0us"),
            ("latency", "2ms"),
            ("retry", "50ms"),
            ("masters-order", "rotated"),
        ],
        target: Target { kind: Kind::Stuck, cause: Cause::Interleaving },
        remedy: "Wait for a random delay between attempts. `fencepost boundary --vary \
                 retry-spread` measures how much the delay must vary.",
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
        title: "A crashed process in the queue",
        question: "A fair lock serves its waiters in order. What if the next one has crashed?",
        protocol: [
            "Acquire: a script takes the lock if it is free and the process is first in the queue.",
            "Otherwise the process joins the queue. Its entry contains the time at which the entry \
             expires.",
            "Before each attempt, a process removes expired entries from the head of the queue.",
            "A release sends a message to the first process in the queue.",
            "A process that crashes leaves its entry in the queue.",
        ],
        run: Run { client: "redisson-fair", fault: "client-crash", seed: 1 },
        settings: &[],
        target: Target { kind: Kind::Stuck, cause: Cause::WaiterCrash },
        remedy: "Keep places in the queue for a shorter time, or use a lock without a queue.",
        fixed: Some(Fixed { client: "redisson", settings: &[], kind: Kind::Stuck }),
        source: "Redisson documentation, *Fair lock*: the queue waits for a waiter that has died.",
    },
    Exhibit {
        name: "random-tokens",
        title: "Tokens without an order",
        question: "Redlock draws a random value for every lock. Why not send that value to the \
                   storage as a token?",
        protocol: REDLOCK,
        run: Run { client: "redlock-fencing", fault: "none", seed: 0 },
        settings: &[],
        target: Target { kind: Kind::TokenRegression, cause: Cause::UnorderedTokens },
        remedy: "Take tokens from one durable counter that grows with every grant.",
        fixed: Some(Fixed { client: "fencing", settings: &[], kind: Kind::TokenRegression }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "longer-than-the-lease",
        title: "Work that takes longer than the lease",
        question: "A process takes a lock for ten seconds, and its work takes longer. What does \
                   the next process find?",
        protocol: SINGLE,
        run: Run { client: "single-node", fault: "none", seed: 0 },
        settings: &[("hold", "11s..19s")],
        target: Target { kind: Kind::Overlap, cause: Cause::HoldTooLong },
        remedy: "Renew the lease while the holder works, or let the holder watch the clock.",
        fixed: Some(Fixed {
            client: "watchdog",
            settings: &[("hold", "11s..19s")],
            kind: Kind::Overlap,
        }),
        source: REDIS,
    },
    Exhibit {
        name: "a-time-is-no-owner",
        title: "A release guarded only by a time",
        question: "The key holds the end of the lease, and the holder sends DEL only before that \
                   end. Can DEL still remove another process's lock?",
        protocol: [
            "Acquire: `SETNX key end-of-lease`. The lock is granted if the key did not exist.",
            "If the lock is not granted, `GET` the key. If that time has passed, `GETSET key \
             end-of-lease`.",
            "The process has taken the lock over if `GETSET` returns a time that has passed.",
            "Read the guarded value, work on it, write it back.",
            "Release: `DEL key` if `GET` returns a time that has not passed.",
        ],
        run: Run { client: "setnx-getset-expiry", fault: "none", seed: 0 },
        settings: &[("hold", "11s..19s")],
        target: Target { kind: Kind::ForeignRelease, cause: Cause::HoldTooLong },
        remedy: "Store an owner in the key too, and compare it in the release script.",
        fixed: Some(Fixed {
            client: "setnx-getset-expiry-owner",
            settings: &[("hold", "11s..19s")],
            kind: Kind::ForeignRelease,
        }),
        source: SETNX,
    },
    Exhibit {
        name: "clocks-of-clients",
        title: "A lock whose age depends on a clock",
        question: "A waiter decides by its own clock whether a lock is stale. What if that clock \
                   is stepped?",
        protocol: GETSET,
        run: Run { client: "setnx-getset", fault: "clock-jump", seed: 24 },
        settings: &[],
        target: Target { kind: Kind::Overlap, cause: Cause::ClockJump },
        remedy: "Let one clock decide: use an expiry at the server, or the server's `TIME`.",
        fixed: None,
        source: SETNX,
    },
    Exhibit {
        name: "number-twice",
        title: "An order number that is issued twice",
        question: "A process reads a number, increments it and writes it back under a lock. What \
                   does a pause cost?",
        protocol: SINGLE,
        run: Run { client: "single-node", fault: "pause", seed: 15 },
        settings: &[("workload", "sequence")],
        target: Target { kind: Kind::DuplicateNumber, cause: Cause::HolderPause },
        remedy: "Let the storage issue the numbers, or let it check a fencing token.",
        fixed: Some(Fixed {
            client: "fencing",
            settings: &[("workload", "sequence")],
            kind: Kind::DuplicateNumber,
        }),
        source: KLEPPMANN,
    },
];
