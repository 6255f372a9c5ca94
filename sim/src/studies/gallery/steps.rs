use super::exhibit::{Exhibit, Fixed, REDIS, REDLOCK, Run};
use crate::diagnosis::Target;
use fencepost_reports::{Cause, Kind};

const SHORT_LEASES: &[(&str, &str)] = &[
    ("cycles", "40"),
    ("ttl", "100ms"),
    ("hold", "10ms..90ms"),
    ("node-timeout", "100ms"),
    ("fault-window", "10ms..2s"),
    ("extra-latency", "20ms..90ms"),
];

pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "compare-then-delete",
        title: "A release in two steps",
        question: "A process sends GET, sees its own value and sends DEL. What can happen between \
                   the two?",
        protocol: [
            "Acquire: `SET key random NX PX ttl`. The lock is granted if the key did not exist.",
            "If the lock is not granted, wait for a random delay and try again.",
            "Read the guarded value, work on it, write it back.",
            "Release: `GET key`, and if it holds the process's own value, `DEL key` as a second \
             command.",
            "The server deletes the key when the ttl ends.",
        ],
        run: Run { client: "set-px-get-del", fault: "pause", seed: 0 },
        settings: &[("latency", "5ms..60ms")],
        target: Target { kind: Kind::ForeignRelease, cause: Cause::HolderPause },
        remedy: "Compare and delete in one script, so that no other command can run between the \
                 two.",
        fixed: Some(Fixed {
            client: "single-node",
            settings: &[("latency", "5ms..60ms")],
            kind: Kind::ForeignRelease,
        }),
        source: REDIS,
    },
    Exhibit {
        name: "unchecked-extension",
        title: "An extension that takes the lock away",
        question: "A holder extends its lease too late. Whose lock does it extend?",
        protocol: [
            "Acquire: `SET key random NX PX ttl`. The lock is granted if the key did not exist, \
             and it is valid for the ttl from the moment the command was sent.",
            "If less than a third of that time is left and the work is not done, send `SET key \
             random PX ttl` again.",
            "That second SET does not check the owner: it overwrites any value.",
            "Read the guarded value, work on it, write it back.",
            "Release: a script runs `DEL` if the key still holds the process's random value.",
        ],
        run: Run { client: "lua-extend-unchecked", fault: "pause", seed: 4 },
        settings: &[("hold", "11s..19s")],
        target: Target { kind: Kind::Overlap, cause: Cause::HolderPause },
        remedy: "Extend with a script that checks the owner. It leaves another process's lock \
                 alone, and the late holder learns that it has lost its own.",
        fixed: None,
        source: "A widely copied article. Its script extends the lock only if the key holds the \
                 client's value; here, the comparison is missing.",
    },
    Exhibit {
        name: "stated-lease",
        title: "A lease that disables the watchdog",
        question: "Does Redisson renew all the locks that it holds?",
        protocol: [
            "Acquire: `tryLock(wait, lease)` runs a script that creates a hash with a count in \
             the field `uuid:thread`. The hash expires after the lease.",
            "If the lock is not granted, subscribe to a channel, wait for a message or for the \
             lock to expire, and try again.",
            "Read the guarded value, work on it, write it back.",
            "The watchdog renews locks taken by `tryLock(wait)`, but not those for which the \
             caller gave a lease.",
            "Release: `unlock()` runs a script that decrements the count and, at zero, deletes the \
             hash and publishes a message.",
        ],
        run: Run { client: "redisson-lease", fault: "none", seed: 0 },
        settings: &[("hold", "20s")],
        target: Target { kind: Kind::Overlap, cause: Cause::HoldTooLong },
        remedy: "Give no lease, so that the watchdog renews the lock for as long as the process \
                 lives; or give a lease longer than the longest work.",
        fixed: Some(Fixed {
            client: "redisson",
            settings: &[("hold", "20s")],
            kind: Kind::Overlap,
        }),
        source: "Redisson documentation, *Locks and synchronizers*: a lock taken with a lease time \
                 is released when that time ends.",
    },
    Exhibit {
        name: "late-release",
        title: "A release that also matches the next lock",
        question: "The network delays a release. Which lock does it find on arrival?",
        protocol: [
            "First take a lock inside the process, so that only one of its threads continues.",
            "Run a script: if the key holds the process's id, which never changes, reset the \
             expiry; if there is no key, create it with the id.",
            "If the lock is not granted, try again every 100 ms.",
            "Read the guarded value, work on it, write it back.",
            "Release: `UNLINK` if `GET` returns the process's id; then release the lock inside the \
             process, whether or not that succeeded.",
        ],
        run: Run { client: "spring-registry", fault: "partition", seed: 28 },
        settings: &[],
        target: Target { kind: Kind::Overlap, cause: Cause::LostRelease },
        remedy: "Use a new value for each acquisition. A late release then finds a value that is \
                 not its own.",
        fixed: Some(Fixed { client: "single-node", settings: &[], kind: Kind::Overlap }),
        source: "`RedisLockRegistry` of Spring Integration 7: one client id for each registry.",
    },
    Exhibit {
        name: "majority-too-late",
        title: "A majority that came too late",
        question: "Three of five masters have granted the lock. Is it still held when the third \
         one answers?",
        protocol: [
            "Acquire: send `SET key random NX PX ttl` to five independent masters, with a short \
             timeout for each.",
            "The lock is granted if three masters agree, no matter how long that took.",
            "To release, or if the lock is not granted: on all five masters, run a script that \
             deletes the key if it holds the process's value.",
            "If the lock is not granted, wait for a random delay and try again.",
            "Each master deletes the key when the ttl ends, counted from its own grant.",
        ],
        run: Run { client: "redlock-no-validity-check", fault: "latency", seed: 6 },
        settings: SHORT_LEASES,
        target: Target { kind: Kind::Overlap, cause: Cause::Latency },
        remedy: "Follow step 3 of Redlock: subtract the elapsed time from the ttl, and release a \
                 majority that has no time left.",
        fixed: Some(Fixed { client: "redlock", settings: SHORT_LEASES, kind: Kind::Overlap }),
        source: REDIS,
    },
    Exhibit {
        name: "synced-every-second",
        title: "The last second before a power failure",
        question: "Every master writes an append-only file. What does it contain after a power \
                   failure?",
        protocol: REDLOCK,
        run: Run { client: "redlock", fault: "restart", seed: 11 },
        settings: &[("persistence", "aof-everysec")],
        target: Target { kind: Kind::Overlap, cause: Cause::RestartWithoutDelay },
        remedy: "Use `appendfsync always`, which syncs before it answers. With `everysec`, keep a \
                 master down for longer than the ttl after a power failure.",
        fixed: Some(Fixed {
            client: "redlock",
            settings: &[("persistence", "aof-always")],
            kind: Kind::Overlap,
        }),
        source: "Redis documentation, *Distributed Locks with Redis*, section *Performance, crash \
         recovery and fsync*.",
    },
];
