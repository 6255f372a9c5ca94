//! More exhibits: a step that one lock leaves out, or splits in two, or an insufficient setting.

use super::exhibit::{Exhibit, Fixed, REDIS, REDLOCK};
use fencepost_reports::{Cause, Kind};

/// Leases so short that a majority can be too late.
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
        question: "GET shows the own value, so DEL is sent. What can come between the two?",
        protocol: [
            "`SET key random NX PX ttl`: granted if the key was not there.",
            "Not granted: wait a random delay and try again.",
            "Read the guarded value, work, write it back.",
            "Release: `GET key`, and if it holds the own value `DEL key`, as a second command.",
            "The server forgets the key when the ttl is over.",
        ],
        client: "set-px-get-del",
        fault: "pause",
        settings: &[("latency", "5ms..60ms")],
        seed: 0,
        kind: Kind::ForeignRelease,
        cause: Cause::HolderPause,
        remedy: "A script that compares and deletes: no other command comes between the two.",
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
        question: "A holder lengthens its lease, and is late. Whose lock does it lengthen?",
        protocol: [
            "`SET key random NX PX ttl`: granted if the key was not there, and valid for a ttl \
             from when it was sent.",
            "While less than a third of that is left and the work is not done: `SET key random PX \
             ttl` once more.",
            "That second SET looks at no owner: it writes whatever stands there.",
            "Read the guarded value, work, write it back.",
            "Release by a script: `DEL` only while the key holds the own random value.",
        ],
        client: "lua-extend-unchecked",
        fault: "pause",
        settings: &[("hold", "11s..19s")],
        seed: 4,
        kind: Kind::Overlap,
        cause: Cause::HolderPause,
        remedy: "The extension is a script that compares the owner: a lock that is another's is \
         not touched, and the late holder learns that it has lost its own.",
        fixed: None,
        source: "An article that people copy from: a script that lengthens the lock as long as it \
         has the client's value. Here the comparison is left out.",
    },
    Exhibit {
        name: "stated-lease",
        title: "A lease that switches the watchdog off",
        question: "Redisson renews the locks that it holds. All of them?",
        protocol: [
            "`tryLock(wait, lease)`: a script sets a hash from `uuid:thread` to a count, with the \
             lease as its expiry.",
            "Not granted: subscribe to a channel, wait for a message or for the end of the lock, \
             and try again.",
            "Read the guarded value, work, write it back.",
            "The watchdog renews what was taken by `tryLock(wait)`; a lease that the caller \
             states is not renewed.",
            "`unlock()`: a script counts down, and at zero deletes the hash and publishes.",
        ],
        client: "redisson-lease",
        fault: "none",
        settings: &[("hold", "20s")],
        seed: 0,
        kind: Kind::Overlap,
        cause: Cause::HoldTooLong,
        remedy: "No lease is stated, so that the watchdog renews the lock for as long as its \
         process lives; or a lease that is longer than any work.",
        fixed: Some(Fixed {
            client: "redisson",
            settings: &[("hold", "20s")],
            kind: Kind::Overlap,
        }),
        source: "Redisson documentation, *Locks and synchronizers*: a lock taken with a lease \
         time is released when that is over.",
    },
    Exhibit {
        name: "late-release",
        title: "A release that fits the next lock too",
        question: "The network holds a release up. What does it find when it arrives?",
        protocol: [
            "The lock inside the process first, so that one of its threads goes on.",
            "A script: the key holds the id of the process, one for its whole life: set its \
             expiry; there is no key: set it, with the id.",
            "Not granted: try again every 100 ms.",
            "Read the guarded value, work, write it back.",
            "Release: `UNLINK` if `GET` shows the id of the process; then the lock inside is \
             given back, whatever came of it.",
        ],
        client: "spring-registry",
        fault: "partition",
        settings: &[],
        seed: 28,
        kind: Kind::Overlap,
        cause: Cause::LostRelease,
        remedy: "A value for each acquisition: a release that comes late then finds a lock that \
         is not its own.",
        fixed: Some(Fixed { client: "single-node", settings: &[], kind: Kind::Overlap }),
        source: "`RedisLockRegistry` of Spring Integration 7: one client id for each registry.",
    },
    Exhibit {
        name: "majority-too-late",
        title: "A majority that came too late",
        question: "Three of five masters have granted the lock. Is it still held when the third \
         one answers?",
        protocol: [
            "`SET key random NX PX ttl` on five independent masters, with a small timeout each.",
            "Granted if three of them agree, however long that took.",
            "Otherwise, and to release: a script on all five deletes the own value.",
            "Not granted: wait a random delay and try again.",
            "Each master forgets the key when the ttl is over, counted from its own grant.",
        ],
        client: "redlock-no-validity-check",
        fault: "latency",
        settings: SHORT_LEASES,
        seed: 6,
        kind: Kind::Overlap,
        cause: Cause::Latency,
        remedy: "Step 3 of Redlock: the time that was spent is taken off the ttl, and a majority \
         of which nothing is left is given back.",
        fixed: Some(Fixed { client: "redlock", settings: SHORT_LEASES, kind: Kind::Overlap }),
        source: REDIS,
    },
    Exhibit {
        name: "synced-every-second",
        title: "The last second before the power failed",
        question: "Every master writes an append-only file. What is in it when the power fails?",
        protocol: REDLOCK,
        client: "redlock",
        fault: "restart",
        settings: &[("persistence", "aof-everysec")],
        seed: 11,
        kind: Kind::Overlap,
        cause: Cause::RestartWithoutDelay,
        remedy: "`appendfsync always` syncs before it answers. With `everysec` a master stays \
         away for longer than the ttl after its power has failed.",
        fixed: Some(Fixed {
            client: "redlock",
            settings: &[("persistence", "aof-always")],
            kind: Kind::Overlap,
        }),
        source: "Redis documentation, *Distributed Locks with Redis*, section *Performance, crash \
         recovery and fsync*.",
    },
];
