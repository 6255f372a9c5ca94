use super::exhibit::{Exhibit, FENCING, Fixed, KLEPPMANN, REDIS, REDLOCK, Run, SETNX, SINGLE};
use crate::diagnosis::Target;
use fencepost_reports::{Cause, Kind};

const UNCHECKED: [&str; 5] = [
    FENCING[0],
    FENCING[1],
    "The storage ignores the token (`storage=unchecked`).",
    FENCING[3],
    FENCING[4],
];

const PUBLISHED: [&str; 5] = [
    "Acquire: a script creates a hash with the thread as field, and a ttl. The lock is granted if \
     the key did not exist.",
    "If the lock is not granted, subscribe to the lock's channel and sleep until a message arrives \
     or the ttl that the server returned ends.",
    "Read the guarded value, work on it, write it back. Meanwhile a watchdog renews the ttl.",
    "Release: a script deletes the hash and publishes that the lock is free.",
    "Redis delivers a message only to the clients that are subscribed at that moment.",
];
const FENCED_WRITES: [&str; 5] = [
    FENCING[0],
    FENCING[1],
    "The storage remembers the highest token of all writes and rejects a write with a lower one. \
     It does not check reads (`storage=fenced-writes`).",
    FENCING[3],
    FENCING[4],
];

pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "overlap-by-pause",
        title: "A pause creates two holders",
        question: "Can two processes hold the same lock if every command was correct?",
        protocol: SINGLE,
        run: Run { client: "single-node", fault: "pause", seed: 15 },
        settings: &[],
        target: Target { kind: Kind::Overlap, cause: Cause::HolderPause },
        remedy: "No lease-based lock prevents this: a paused process cannot notice that its lease \
                 has expired. A fencing token prevents the harm; see [the write of a paused \
                 holder](write-after-pause.md).",
        fixed: None,
        source: KLEPPMANN,
    },
    Exhibit {
        name: "write-after-pause",
        title: "The write of a paused holder",
        question: "The garbage collector pauses a holder between its check and its write. What \
                   reaches the storage?",
        protocol: REDLOCK,
        run: Run { client: "redlock", fault: "pause", seed: 15 },
        settings: &[],
        target: Target { kind: Kind::StaleWrite, cause: Cause::HolderPause },
        remedy: "Use a fencing token that the storage checks. The late write carries an old token, \
                 and the storage rejects it.",
        fixed: Some(Fixed { client: "fencing", settings: &[], kind: Kind::StaleWrite }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "foreign-release",
        title: "A release that removes another holder's lock",
        question: "What does a plain DEL delete when the holder is late?",
        protocol: [
            "Acquire: `SET key 1 NX EX ttl`. The lock is granted if the key did not exist.",
            "If the lock is not granted, wait and try again.",
            "Read the guarded value, work on it, write it back.",
            "Release: `DEL key`, without checking who owns the lock by then.",
            "The server deletes the key when the ttl ends.",
        ],
        run: Run { client: "set-ex-del", fault: "pause", seed: 22 },
        settings: &[],
        target: Target { kind: Kind::Overlap, cause: Cause::ForeignRelease },
        remedy: "Store a value that no other process uses, and release with a script that compares \
                 the value and deletes the key in one step.",
        fixed: Some(Fixed { client: "single-node", settings: &[], kind: Kind::ForeignRelease }),
        source: REDIS,
    },
    Exhibit {
        name: "double-takeover",
        title: "Two waiters take over one dead lock",
        question: "Both find the lock stale and both delete it. Whose lock does the second one \
                   delete?",
        protocol: [
            "Acquire: `SETNX key now`, where the value is the current time. The lock is granted if \
             the key did not exist.",
            "If the lock is not granted, `GET key`. If that time is recent, wait and try again.",
            "If that time is too old, `DEL key`, then `SETNX key now`.",
            "Read the guarded value, work on it, write it back.",
            "Release: `DEL key`.",
        ],
        run: Run { client: "setnx-stale-del", fault: "client-crash", seed: 68 },
        settings: &[("processes", "8"), ("retry", "50ms..55ms"), ("latency", "1ms..30ms")],
        target: Target { kind: Kind::Overlap, cause: Cause::StaleTakeover },
        remedy: "Replace the stale value in one step that checks it again: `GETSET` and a \
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
        question: "Who frees a lock without an expiry after its holder has crashed?",
        protocol: [
            "Acquire: `SETNX key value`. The lock is granted if the key did not exist.",
            "If the lock is not granted, wait and try again.",
            "Read the guarded value, work on it, write it back.",
            "Release: `DEL key`.",
            "Only the holder ever deletes the key.",
        ],
        run: Run { client: "setnx", fault: "client-crash", seed: 0 },
        settings: &[],
        target: Target { kind: Kind::Stuck, cause: Cause::HolderCrash },
        remedy: "Set an expiry in the command that takes the lock.",
        fixed: Some(Fixed { client: "set-ex-del", settings: &[], kind: Kind::Stuck }),
        source: SETNX,
    },
    Exhibit {
        name: "expiry-by-a-second-command",
        title: "The expiry that was never set",
        question: "SETNX, then EXPIRE: what if only the first command takes effect?",
        protocol: [
            "Acquire: `SETNX key 1`. The lock is granted if the key did not exist.",
            "If the lock is granted, send `EXPIRE key ttl` as a second command.",
            "Read the guarded value, work on it, write it back.",
            "Release: `DEL key`.",
            "A key whose EXPIRE was never sent stays forever.",
        ],
        run: Run { client: "setnx-expire", fault: "lost-reply", seed: 138 },
        settings: &[],
        target: Target { kind: Kind::Stuck, cause: Cause::LostReply },
        remedy: "Use one command, `SET key value NX PX ttl`, so that no lock is ever without an \
                 expiry.",
        fixed: Some(Fixed { client: "set-ex-del", settings: &[], kind: Kind::Stuck }),
        source: "Redis documentation of `SET`: the options `NX` and `PX` replace `SETNX` followed \
         by `EXPIRE`.",
    },
    Exhibit {
        name: "lost-at-failover",
        title: "A lock lost in a failover",
        question: "A primary fails and a replica is promoted. Does the replica have the lock?",
        protocol: SINGLE,
        run: Run { client: "single-node", fault: "failover", seed: 29 },
        settings: &[("hold", "2s..8s"), ("think", "1s..10s"), ("cycles", "10")],
        target: Target { kind: Kind::Overlap, cause: Cause::AsyncReplicationLoss },
        remedy: "Redis replicates asynchronously. `WAIT` and `min-replicas-to-write` shrink the \
                 window but do not close it. A majority of independent masters closes it, as long \
                 as none of them loses its grants.",
        fixed: Some(Fixed { client: "redlock", settings: &[], kind: Kind::Overlap }),
        source: REDIS,
    },
    Exhibit {
        name: "split-brain",
        title: "Two masters, one lock",
        question: "A partition separates a master from most of its Sentinels, and they promote a \
                   replica. What does the old master do in the meantime?",
        protocol: SINGLE,
        run: Run { client: "single-node", fault: "failover", seed: 7 },
        settings: &[],
        target: Target { kind: Kind::Overlap, cause: Cause::SplitBrain },
        remedy: "The old master cannot know that it was replaced. With `WAIT` after the grant, the \
                 client gives the lock up unless a replica has it. A lease longer than the \
                 partition, or a majority of independent masters, reduces the risk. Only a fencing \
                 token from a store that cannot split prevents the harm.",
        fixed: Some(Fixed { client: "redlock", settings: &[], kind: Kind::Overlap }),
        source: REDIS,
    },
    Exhibit {
        name: "message-missed",
        title: "A free lock that no process takes",
        question: "Waiters sleep until a message tells them that the lock is free. What if the \
                   server restarts in the meantime?",
        protocol: PUBLISHED,
        run: Run { client: "redisson", fault: "restart", seed: 120 },
        settings: &[("availability", "5s")],
        target: Target { kind: Kind::Unavailable, cause: Cause::MissedWakeup },
        remedy: "Ask again after every new subscription, and after some time without a message. \
                 Polling costs only a few more commands.",
        fixed: Some(Fixed {
            client: "single-node",
            settings: &[("availability", "5s")],
            kind: Kind::Unavailable,
        }),
        source: "Redis documentation, *Pub/Sub*: messages are delivered at most once.",
    },
    Exhibit {
        name: "restart-without-delay",
        title: "A master that restarts empty",
        question: "Redlock needs three of five masters. What if one of the three loses its grant?",
        protocol: REDLOCK,
        run: Run { client: "redlock", fault: "restart", seed: 62 },
        settings: &[],
        target: Target { kind: Kind::Overlap, cause: Cause::RestartWithoutDelay },
        remedy: "If a master may have lost grants, keep it down for longer than the ttl; or have \
                 it sync every write before it answers (`appendfsync always`). `fencepost boundary \
                 --client redlock --fault restart --vary restart-delay` finds the shortest \
                 downtime that is enough.",
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
        question: "Keys expire by the server's wall clock. What if someone sets that clock?",
        protocol: SINGLE,
        run: Run { client: "single-node", fault: "clock-jump", seed: 4 },
        settings: &[],
        target: Target { kind: Kind::Overlap, cause: Cause::ClockJump },
        remedy: "Slew clocks instead of stepping them; the lock itself cannot help. A fencing \
                 token prevents the harm.",
        fixed: Some(Fixed { client: "fencing", settings: &[], kind: Kind::StaleWrite }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "clock-drift",
        title: "Clocks that drift beyond the margin",
        question: "Redlock allows for 1 % of clock drift. What happens at 3 %?",
        protocol: REDLOCK,
        run: Run { client: "redlock", fault: "clock-drift", seed: 1 },
        settings: &[("hold", "until-validity"), ("processes", "2"), ("cycles", "3")],
        target: Target { kind: Kind::Overlap, cause: Cause::ClockDrift },
        remedy: "Keep clock drift within the margin. `fencepost boundary --client redlock --fault \
                 clock-drift --vary drift --hold until-validity` shows the calculated bound, \
                 10,345 ppm or 1.03 %, and the smallest drift that broke the lock.",
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
        title: "A lock that is evicted to free memory",
        question: "Which keys does a server evict first when its memory is full?",
        protocol: SINGLE,
        run: Run { client: "single-node", fault: "eviction", seed: 10 },
        settings: &[],
        target: Target { kind: Kind::Overlap, cause: Cause::Eviction },
        remedy: "Set `maxmemory-policy noeviction` on servers that hold locks, or keep no other \
                 data on them.",
        fixed: None,
        source: "Redis documentation, *Key eviction*.",
    },
    Exhibit {
        name: "suspend",
        title: "A process that does not know that it was suspended",
        question: "Redlock checks the elapsed time. By which clock?",
        protocol: REDLOCK,
        run: Run { client: "redlock", fault: "suspend", seed: 61 },
        settings: &[],
        target: Target { kind: Kind::Overlap, cause: Cause::HolderPause },
        remedy: "With a clock that also runs during a suspension (`CLOCK_BOOTTIME`), the \
                 suspension counts towards the lease, so the process notices in time that its \
                 lease has expired, unless it is suspended between its last check and its write. A \
                 fencing token prevents the harm.",
        fixed: Some(Fixed { client: "fencing", settings: &[], kind: Kind::StaleWrite }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "fencing-hazard-without-harm",
        title: "Two holders without harm",
        question: "What does a fencing token prevent, and what does it not prevent?",
        protocol: FENCING,
        run: Run { client: "fencing", fault: "pause", seed: 15 },
        settings: &[],
        target: Target { kind: Kind::Overlap, cause: Cause::HolderPause },
        remedy: "None is needed here. Both processes believe that they hold the lock. The storage \
                 accepts the late write because it has not seen a higher token yet, and the later \
                 holder reads only after that write. If the later holder had read first, the \
                 storage would have rejected the write.",
        fixed: None,
        source: KLEPPMANN,
    },
    Exhibit {
        name: "unchecked-storage",
        title: "Tokens that are not checked",
        question: "Does a lock with tokens help if the storage ignores them?",
        protocol: UNCHECKED,
        run: Run { client: "fencing", fault: "pause", seed: 15 },
        settings: &[("storage", "unchecked")],
        target: Target { kind: Kind::LostUpdate, cause: Cause::HolderPause },
        remedy: "The storage must reject every request whose token is lower than the highest token \
                 that it has seen.",
        fixed: Some(Fixed { client: "fencing", settings: &[], kind: Kind::LostUpdate }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "fenced-writes",
        title: "Tokens checked on writes only",
        question: "The later holder has read but not written yet. Does the storage reject a late \
                   write of the earlier holder?",
        protocol: FENCED_WRITES,
        run: Run { client: "fencing", fault: "pause", seed: 94 },
        settings: &[("storage", "fenced-writes")],
        target: Target { kind: Kind::LostUpdate, cause: Cause::HolderPause },
        remedy: "Let the storage check the tokens of reads too, so that a read also raises the \
                 highest token that the storage has seen.",
        fixed: Some(Fixed { client: "fencing", settings: &[], kind: Kind::LostUpdate }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "token-regression",
        title: "A token that is issued twice",
        question: "The token counter is a key like any other. What happens to it in a failover?",
        protocol: FENCING,
        run: Run { client: "fencing", fault: "failover", seed: 1 },
        settings: &[],
        target: Target { kind: Kind::TokenRegression, cause: Cause::AsyncReplicationLoss },
        remedy: "A token is only as durable as its counter. Keep the counter in a store that does \
                 not lose acknowledged writes, such as the guarded storage itself.",
        fixed: None,
        source: "Martin Kleppmann, *How to do distributed locking*, 2016, which remarks that a \
                 counter on one node is not enough.",
    },
    Exhibit {
        name: "late-write",
        title: "A write that is still in transit",
        question: "The holder finished in time. Did its write arrive in time?",
        protocol: REDLOCK,
        run: Run { client: "redlock", fault: "storage-delay", seed: 13 },
        settings: &[],
        target: Target { kind: Kind::StaleWrite, cause: Cause::StorageDelay },
        remedy: "Only the storage can detect a late write. Use a fencing token.",
        fixed: Some(Fixed { client: "fencing", settings: &[], kind: Kind::StaleWrite }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "reentrant-by-value",
        title: "An inner release that frees the outer lock",
        question: "A lock recognises its owner by a value. Who counts how many times the owner \
                   took it?",
        protocol: [
            "Acquire: `SET key owner NX PX ttl`, with one owner value for the whole process.",
            "If the key already holds the process's own value, the lock is granted again.",
            "Release: a script deletes the key if it holds the process's own value.",
            "The process takes the lock, then calls a function that also takes and releases it.",
            "The lock does not count how many times its owner has taken it.",
        ],
        run: Run { client: "reentrant-by-value", fault: "none", seed: 0 },
        settings: &[],
        target: Target { kind: Kind::Overlap, cause: Cause::EarlyRelease },
        remedy: "Store a count with the owner, in one script, and delete the key only when the \
                 count is back to zero.",
        fixed: Some(Fixed { client: "reentrant-counted", settings: &[], kind: Kind::Overlap }),
        source: "Redisson keeps such a count for each owner in a hash.",
    },
    Exhibit {
        name: "watchdog-unstopped",
        title: "A watchdog that was never stopped",
        question: "A task renews the lease. Who tells the task that the lock was released?",
        protocol: [
            "Acquire: `SET key random NX PX ttl`, then start a task that renews the lease.",
            "The task resets the expiry again and again, without checking who owns the key.",
            "Read the guarded value, work on it, write it back.",
            "Release: a script runs `DEL` if the key still holds the process's random value.",
            "The task runs for as long as the process lives.",
        ],
        run: Run { client: "watchdog-unstopped", fault: "client-crash", seed: 1 },
        settings: &[],
        target: Target { kind: Kind::Stuck, cause: Cause::OrphanRenewal },
        remedy: "Stop the watchdog before sending the release, and renew with a script that first \
                 checks that the process still owns the lock.",
        fixed: Some(Fixed { client: "watchdog", settings: &[], kind: Kind::Stuck }),
        source: "A widely copied article, in which a daemon thread extends the lock and must be \
                 stopped explicitly.",
    },
    Exhibit {
        name: "oversold",
        title: "An item that was sold twice",
        question: "A flash sale guards its stock with a lock. What does a pause cost?",
        protocol: SINGLE,
        run: Run { client: "single-node", fault: "pause", seed: 22 },
        settings: &[("workload", "seckill")],
        target: Target { kind: Kind::Oversold, cause: Cause::HolderPause },
        remedy: "Let the storage refuse: use a fencing token, or a decrement that cannot go below \
                 zero.",
        fixed: Some(Fixed {
            client: "fencing",
            settings: &[("workload", "seckill")],
            kind: Kind::Oversold,
        }),
        source: KLEPPMANN,
    },
];
