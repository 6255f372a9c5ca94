//! The table of exhibits: an anomaly is one entry here, with the seed that shows it.

use super::{etcd, memcached, mysql, postgresql, protocols, steps, zookeeper};
use fencepost_reports::{Cause, Kind};

/// An anomaly with the run that shows it.
pub struct Exhibit {
    /// The name of its file.
    pub name: &'static str,
    /// A few words.
    pub title: &'static str,
    /// What somebody asks who has not met it.
    pub question: &'static str,
    /// The protocol, in five lines.
    pub protocol: [&'static str; 5],
    /// The lock.
    pub client: &'static str,
    /// The faults.
    pub fault: &'static str,
    /// What of the scenario is not built in, as for `--set`.
    pub settings: &'static [(&'static str, &'static str)],
    /// The seed.
    pub seed: u64,
    /// The rule that is broken.
    pub kind: Kind,
    /// Why.
    pub cause: Cause,
    /// What helps.
    pub remedy: &'static str,
    /// The lock in which it is fixed, if one is built in.
    pub fixed: Option<Fixed>,
    /// Who described it.
    pub source: &'static str,
}

/// A lock and settings under which a rule is kept that the exhibit breaks.
pub struct Fixed {
    /// The lock.
    pub client: &'static str,
    /// What of the scenario is not built in.
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

/// The same lock before a storage that ignores tokens.
const UNCHECKED: [&str; 5] = [
    FENCING[0],
    FENCING[1],
    "The storage ignores the token (`storage=unchecked`).",
    FENCING[3],
    FENCING[4],
];

/// The same lock before a storage that looks at the tokens of writes.
const FENCED_WRITES: [&str; 5] = [
    FENCING[0],
    FENCING[1],
    "The storage remembers the highest token of a write, and rejects a write with a lower one; \
     reads are not checked (`storage=fenced-writes`).",
    FENCING[3],
    FENCING[4],
];

/// Every exhibit, in the order of the index.
pub fn all() -> Vec<&'static Exhibit> {
    let tables = [
        EXHIBITS,
        protocols::EXHIBITS,
        steps::EXHIBITS,
        memcached::EXHIBITS,
        zookeeper::EXHIBITS,
        postgresql::EXHIBITS,
        mysql::EXHIBITS,
        etcd::EXHIBITS,
    ];
    tables.into_iter().flatten().collect()
}

const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "overlap-by-pause",
        title: "Two holders by a pause",
        question: "Can two processes hold one lease at once though every command was right?",
        protocol: SINGLE,
        client: "single-node",
        fault: "pause",
        settings: &[],
        seed: 15,
        kind: Kind::Overlap,
        cause: Cause::HolderPause,
        remedy: "No lock with a lease prevents it: a process that stands still cannot notice that \
         its lease ran out. What can be prevented is the harm: see [the write of a paused \
         holder](write-after-pause.md).",
        fixed: None,
        source: KLEPPMANN,
    },
    Exhibit {
        name: "write-after-pause",
        title: "The write of a paused holder",
        question: "A holder is stopped by its garbage collector between its check and its write. \
         What reaches the storage?",
        protocol: REDLOCK,
        client: "redlock",
        fault: "pause",
        settings: &[],
        seed: 15,
        kind: Kind::StaleWrite,
        cause: Cause::HolderPause,
        remedy: "A fencing token that the storage checks: the late write carries an old token and \
         is rejected.",
        fixed: Some(Fixed { client: "fencing", settings: &[], kind: Kind::StaleWrite }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "foreign-release",
        title: "A release that removes another's lock",
        question: "What does a plain DEL delete if the holder is late?",
        protocol: [
            "`SET key 1 NX EX ttl`: granted if the key was not there.",
            "Not granted: wait and try again.",
            "Read the guarded value, work, write it back.",
            "Release: `DEL key`, whoever's it is by now.",
            "The server forgets the key when the ttl is over.",
        ],
        client: "set-ex-del",
        fault: "pause",
        settings: &[],
        seed: 22,
        kind: Kind::Overlap,
        cause: Cause::ForeignRelease,
        remedy: "A value that nobody else writes, and a script that compares it and deletes in \
         one step.",
        fixed: Some(Fixed { client: "single-node", settings: &[], kind: Kind::ForeignRelease }),
        source: REDIS,
    },
    Exhibit {
        name: "double-takeover",
        title: "Two waiters take over one dead lock",
        question: "Both find the lock stale, both delete it: whose lock does the second one \
         delete?",
        protocol: [
            "`SETNX key now`: granted if the key was not there; the value is the time.",
            "Not granted: `GET key`; if that time is not too old, wait and try again.",
            "Too old: `DEL key`, then `SETNX key now`.",
            "Read the guarded value, work, write it back.",
            "Release: `DEL key`.",
        ],
        client: "setnx-stale-del",
        fault: "client-crash",
        settings: &[("processes", "8"), ("retry", "50ms..55ms"), ("latency", "1ms..30ms")],
        seed: 68,
        kind: Kind::Overlap,
        cause: Cause::StaleTakeover,
        remedy: "The stale value is replaced in one step that looks at it again: `GETSET` and a \
         comparison, or a script.",
        fixed: Some(Fixed {
            client: "setnx-getset",
            settings: &[("processes", "8"), ("retry", "50ms..55ms"), ("latency", "1ms..30ms")],
            kind: Kind::Overlap,
        }),
        source: SETNX,
    },
    Exhibit {
        name: "never-expires",
        title: "A lock that outlives its holder",
        question: "Who frees a lock without an expiry when its holder dies?",
        protocol: [
            "`SETNX key value`: granted if the key was not there.",
            "Not granted: wait and try again.",
            "Read the guarded value, work, write it back.",
            "Release: `DEL key`.",
            "Nothing ever removes the key but its holder.",
        ],
        client: "setnx",
        fault: "client-crash",
        settings: &[],
        seed: 0,
        kind: Kind::Stuck,
        cause: Cause::HolderCrash,
        remedy: "An expiry, set by the same command that takes the lock.",
        fixed: Some(Fixed { client: "set-ex-del", settings: &[], kind: Kind::Stuck }),
        source: SETNX,
    },
    Exhibit {
        name: "expiry-by-a-second-command",
        title: "The expiry that was never set",
        question: "SETNX, then EXPIRE: what if only the first one counts?",
        protocol: [
            "`SETNX key 1`: granted if the key was not there.",
            "Granted: `EXPIRE key ttl`, as a second command.",
            "Read the guarded value, work, write it back.",
            "Release: `DEL key`.",
            "A key whose EXPIRE was never sent lives for ever.",
        ],
        client: "setnx-expire",
        fault: "lost-reply",
        settings: &[],
        seed: 138,
        kind: Kind::Stuck,
        cause: Cause::LostReply,
        remedy: "`SET key value NX PX ttl`: one command, so that there is no lock without an \
         expiry.",
        fixed: Some(Fixed { client: "set-ex-del", settings: &[], kind: Kind::Stuck }),
        source: "Redis documentation of `SET`: the options `NX` and `PX` replace `SETNX` followed \
         by `EXPIRE`.",
    },
    Exhibit {
        name: "lost-at-failover",
        title: "A lock lost by a failover",
        question: "A primary is cut off, and a replica is promoted in its place. Which of the two \
         grants the lock?",
        protocol: SINGLE,
        client: "single-node",
        fault: "failover",
        settings: &[("hold", "2s..8s"), ("think", "1s..10s"), ("cycles", "10")],
        seed: 29,
        kind: Kind::Overlap,
        cause: Cause::AsyncReplicationLoss,
        remedy: "Replication is asynchronous; `WAIT` and `min-replicas-to-write` make the window \
         smaller and do not close it. A majority of independent masters does, as long as none of \
         them forgets.",
        fixed: Some(Fixed { client: "redlock", settings: &[], kind: Kind::Overlap }),
        source: REDIS,
    },
    Exhibit {
        name: "restart-without-delay",
        title: "A master that comes back empty",
        question: "Redlock needs three of five. What if one of the three forgets its grant?",
        protocol: REDLOCK,
        client: "redlock",
        fault: "restart",
        settings: &[],
        seed: 62,
        kind: Kind::Overlap,
        cause: Cause::RestartWithoutDelay,
        remedy: "A master that may have forgotten grants stays away for longer than the ttl, or \
         syncs every write before it answers (`appendfsync always`). `fencepost boundary --client \
         redlock --fault restart --vary restart-delay` measures how long is enough.",
        fixed: Some(Fixed {
            client: "redlock",
            settings: &[("restart-delay", "10s")],
            kind: Kind::Overlap,
        }),
        source: "Redis documentation, *Distributed Locks with Redis*, section *Performance, crash \
         recovery and fsync*.",
    },
    Exhibit {
        name: "clock-jump",
        title: "A clock that is stepped",
        question: "Keys expire by the server's wall clock. What if somebody sets it?",
        protocol: SINGLE,
        client: "single-node",
        fault: "clock-jump",
        settings: &[],
        seed: 4,
        kind: Kind::Overlap,
        cause: Cause::ClockJump,
        remedy: "Clocks are slewed, not stepped; the lock itself can do nothing. A fencing token \
         keeps the harm away.",
        fixed: Some(Fixed { client: "fencing", settings: &[], kind: Kind::StaleWrite }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "clock-drift",
        title: "Clocks that drift beyond the margin",
        question: "Redlock leaves a margin of 1 % for drift. What does 3 % do?",
        protocol: REDLOCK,
        client: "redlock",
        fault: "clock-drift",
        settings: &[("hold", "until-validity"), ("processes", "2"), ("cycles", "3")],
        seed: 1,
        kind: Kind::Overlap,
        cause: Cause::ClockDrift,
        remedy: "Clocks that stay within the margin. `fencepost boundary --client redlock --fault \
         clock-drift --vary drift --hold until-validity` shows the bound that arithmetic gives, \
         10,509 ppm or 1.05 %, and the least drift that broke the lock.",
        fixed: Some(Fixed {
            client: "redlock",
            settings: &[
                ("hold", "until-validity"),
                ("processes", "2"),
                ("cycles", "3"),
                ("drift-ppm", "10000"),
            ],
            kind: Kind::Overlap,
        }),
        source: REDIS,
    },
    Exhibit {
        name: "eviction",
        title: "A lock evicted for memory",
        question: "Which keys does a full server throw away first?",
        protocol: SINGLE,
        client: "single-node",
        fault: "eviction",
        settings: &[],
        seed: 10,
        kind: Kind::Overlap,
        cause: Cause::Eviction,
        remedy: "`maxmemory-policy noeviction` on servers that hold locks, or no other data on \
         them.",
        fixed: None,
        source: "Redis documentation, *Key eviction*.",
    },
    Exhibit {
        name: "suspend",
        title: "A process that does not know that it slept",
        question: "Redlock checks the time that it spent. By which clock?",
        protocol: REDLOCK,
        client: "redlock",
        fault: "suspend",
        settings: &[],
        seed: 61,
        kind: Kind::Overlap,
        cause: Cause::HolderPause,
        remedy: "A clock that goes on during a suspension (`CLOCK_BOOTTIME`) finds that the lease \
         is over when the process wakes up, unless it wakes up after that look. A fencing token \
         keeps the harm away.",
        fixed: Some(Fixed { client: "fencing", settings: &[], kind: Kind::StaleWrite }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "fencing-hazard-without-harm",
        title: "Two holders, and no harm",
        question: "What does a fencing token prevent, and what does it not?",
        protocol: FENCING,
        client: "fencing",
        fault: "pause",
        settings: &[],
        seed: 15,
        kind: Kind::Overlap,
        cause: Cause::HolderPause,
        remedy: "None is needed here. Both believe that they hold the lock, and the storage accepts \
         the late write, because it has not yet seen a higher token; the later holder reads only \
         after it. Had that read come first, the storage would have rejected the write.",
        fixed: None,
        source: KLEPPMANN,
    },
    Exhibit {
        name: "unchecked-storage",
        title: "Tokens that nobody checks",
        question: "Is a lock with tokens enough if the storage ignores them?",
        protocol: UNCHECKED,
        client: "fencing",
        fault: "pause",
        settings: &[("storage", "unchecked")],
        seed: 15,
        kind: Kind::LostUpdate,
        cause: Cause::HolderPause,
        remedy: "The storage must reject requests with a token lower than the highest that it has \
         seen.",
        fixed: Some(Fixed { client: "fencing", settings: &[], kind: Kind::LostUpdate }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "fenced-writes",
        title: "Tokens checked on writes only",
        question: "The later holder has read and not yet written. Is a late write of the earlier \
         one rejected?",
        protocol: FENCED_WRITES,
        client: "fencing",
        fault: "pause",
        settings: &[("storage", "fenced-writes")],
        seed: 94,
        kind: Kind::LostUpdate,
        cause: Cause::HolderPause,
        remedy: "Reads carry the token too, and raise the highest that the storage has seen.",
        fixed: Some(Fixed { client: "fencing", settings: &[], kind: Kind::LostUpdate }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "token-regression",
        title: "A token that is issued twice",
        question: "The counter of the tokens is a key like any other. What does a failover make \
         of it?",
        protocol: FENCING,
        client: "fencing",
        fault: "failover",
        settings: &[],
        seed: 1,
        kind: Kind::TokenRegression,
        cause: Cause::AsyncReplicationLoss,
        remedy: "A token is only as durable as its counter: it belongs into a store that does not \
         lose what it acknowledged, the guarded one if need be.",
        fixed: None,
        source: "The remark that a counter on one node is not enough, in Martin Kleppmann, *How \
         to do distributed locking*, 2016.",
    },
    Exhibit {
        name: "late-write",
        title: "A write that is still under way",
        question: "The holder was on time. Was its write?",
        protocol: REDLOCK,
        client: "redlock",
        fault: "storage-delay",
        settings: &[],
        seed: 20,
        kind: Kind::StaleWrite,
        cause: Cause::StorageDelay,
        remedy: "Only the storage can tell that a write is late: a fencing token.",
        fixed: Some(Fixed { client: "fencing", settings: &[], kind: Kind::StaleWrite }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "reentrant-by-value",
        title: "The inner release that frees the outer section",
        question: "A lock that recognises its owner by a value: who counts how often it was taken?",
        protocol: [
            "`SET key owner NX PX ttl`, the owner being the same for the whole process.",
            "Not granted, but the key holds the own value: granted again.",
            "Release: a script deletes the key if it holds the own value.",
            "The outer section takes the lock; a function that it calls takes and releases it too.",
            "Nothing counts how often it was taken.",
        ],
        client: "reentrant-by-value",
        fault: "none",
        settings: &[],
        seed: 0,
        kind: Kind::Overlap,
        cause: Cause::EarlyRelease,
        remedy: "A count beside the owner, in one script; the key is deleted when it comes back \
         to zero.",
        fixed: Some(Fixed { client: "reentrant-counted", settings: &[], kind: Kind::Overlap }),
        source: "Redisson keeps such a count in a hash, by owner.",
    },
    Exhibit {
        name: "watchdog-unstopped",
        title: "A watchdog that nobody stopped",
        question: "A task renews the lease. Who tells it that the lock was given back?",
        protocol: [
            "`SET key random NX PX ttl`, then a task beside the holder.",
            "The task sets the expiry anew, time and again, whoever's the key is.",
            "Read the guarded value, work, write it back.",
            "Release by a script: `DEL` only while the key holds the own random value.",
            "The task goes on for as long as the process lives.",
        ],
        client: "watchdog-unstopped",
        fault: "client-crash",
        settings: &[],
        seed: 0,
        kind: Kind::Stuck,
        cause: Cause::OrphanRenewal,
        remedy: "The watchdog is stopped before the release is sent, and renews by a script that \
         compares the owner.",
        fixed: Some(Fixed { client: "watchdog", settings: &[], kind: Kind::Stuck }),
        source: "An article that people copy from: a daemon that lengthens the life of the lock, \
         and is to be closed explicitly.",
    },
    Exhibit {
        name: "oversold",
        title: "The item that was sold twice",
        question: "A flash sale guards its stock by a lock. What does a pause cost?",
        protocol: SINGLE,
        client: "single-node",
        fault: "pause",
        settings: &[("workload", "seckill")],
        seed: 22,
        kind: Kind::Oversold,
        cause: Cause::HolderPause,
        remedy: "The stock itself must refuse: a fencing token, or a decrement that cannot go \
         below zero.",
        fixed: Some(Fixed {
            client: "fencing",
            settings: &[("workload", "seckill")],
            kind: Kind::Oversold,
        }),
        source: KLEPPMANN,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_can_be_files() {
        let exhibits = all();
        for (place, exhibit) in exhibits.iter().enumerate() {
            assert!(
                exhibit.name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-'),
                "{}",
                exhibit.name
            );
            assert!(
                exhibits[..place].iter().all(|other| other.name != exhibit.name),
                "{} is there twice",
                exhibit.name
            );
            assert!(exhibit.question.ends_with('?'), "{}", exhibit.name);
        }
    }
}
