use super::exhibit::{Exhibit, Fixed, KLEPPMANN, Run};
use crate::diagnosis::Target;
use fencepost_reports::{Cause, Kind};

const ADD: [&str; 5] = [
    "Acquire: `add key random 0 ttl`. Stored if the key does not exist.",
    "If not stored, wait for a random delay and try again.",
    "Read the guarded value, work on it, write it back.",
    "Release: `delete key`.",
    "The server counts the ttl in whole seconds, with a clock that it reads once a second.",
];
const CAS: [&str; 5] = [
    "Acquire: `add key random 0 ttl+1`, then `gets key`. The cas id is the token.",
    "Every request to the storage carries the token.",
    "The storage remembers the highest token and rejects any request with a lower one.",
    "Release: `gets key`, and if it holds the process's own value, `cas key 0 -1 0 id`, which \
     stores a value that has already expired.",
    "The server counts cas ids from 1, in memory.",
];

pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "memcached-eviction",
        title: "A lock in a cache",
        question: "A cache may evict any item. What if the item is a lock?",
        protocol: ADD,
        run: Run { client: "memcached-add", fault: "eviction", seed: 0 },
        settings: &[],
        target: Target { kind: Kind::LostUpdate, cause: Cause::Eviction },
        remedy: "Keep locks on a dedicated server with more memory than they need. Using the cas \
                 id as a fencing token prevents the harm, because an eviction does not reset the \
                 cas id.",
        fixed: Some(Fixed { client: "memcached-cas", settings: &[], kind: Kind::LostUpdate }),
        source: "IPC::Lock::Memcached documentation, *A little warning*.",
    },
    Exhibit {
        name: "memcached-flushed",
        title: "An operator empties the cache",
        question: "An operator flushes a cache that serves stale pages. What if it also holds \
                   locks?",
        protocol: ADD,
        run: Run { client: "memcached-add", fault: "eviction", seed: 11 },
        settings: &[],
        target: Target { kind: Kind::LostUpdate, cause: Cause::Flush },
        remedy: "Keep locks on a dedicated server with `flush_all` disabled (`-F`). Using the cas \
                 id as a fencing token prevents the harm, because a flush does not reset the cas \
                 id.",
        fixed: Some(Fixed { client: "memcached-cas", settings: &[], kind: Kind::LostUpdate }),
        source: "memcached, doc/protocol.txt, `flush_all`, 1.6.18.",
    },
    Exhibit {
        name: "memcached-early-expiry",
        title: "Ten seconds that last only nine",
        question: "The lease is ten seconds, and holders finish in less. What can go wrong without \
                   any fault?",
        protocol: ADD,
        run: Run { client: "memcached-add", fault: "none", seed: 0 },
        settings: &[("hold", "9200ms..9900ms")],
        target: Target { kind: Kind::Overlap, cause: Cause::CoarseExpiry },
        remedy: "Request a lease that is one second longer than needed.",
        fixed: Some(Fixed {
            client: "memcached-cas",
            settings: &[("hold", "9200ms..9900ms")],
            kind: Kind::Overlap,
        }),
        source: "memcached, `clock_handler` in memcached.c, 1.6.18.",
    },
    Exhibit {
        name: "memcached-token-restart",
        title: "A token from a server without persistence",
        question: "The cas id grows with every stored item. Does it still grow after a restart?",
        protocol: CAS,
        run: Run { client: "memcached-cas", fault: "restart", seed: 0 },
        settings: &[],
        target: Target { kind: Kind::TokenRegression, cause: Cause::RestartDataLoss },
        remedy: "Take tokens from a counter that is as durable as the data they guard. The lock \
                 `fencing` does that on a Redis server that syncs every write.",
        fixed: Some(Fixed {
            client: "fencing",
            settings: &[("persistence", "aof-always")],
            kind: Kind::TokenRegression,
        }),
        source: KLEPPMANN,
    },
];
