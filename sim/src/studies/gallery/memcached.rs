//! Exhibits of locks on memcached.

use super::exhibit::{Exhibit, Fixed, KLEPPMANN};
use fencepost_reports::{Cause, Kind};

const ADD: [&str; 5] = [
    "`add key random 0 ttl`: stored if the key is not there.",
    "Not stored: wait a random delay and try again.",
    "Read the guarded value, work, write it back.",
    "Release: `delete key`.",
    "The server counts the ttl in whole seconds, by a clock that it reads once a second.",
];
const CAS: [&str; 5] = [
    "`add key random 0 ttl+1`, then `gets key`: its cas id is the token.",
    "Every request to the storage carries the token.",
    "The storage remembers the highest token, and rejects any request with a lower one.",
    "Release: `gets key`, and if it holds the own value, `cas key 0 -1 0 id`, which stores a \
     value that has expired.",
    "The server counts cas ids from 1, in its memory.",
];

pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "memcached-eviction",
        title: "A lock in a cache",
        question: "A cache may throw away what it holds. What if that is a lock?",
        protocol: ADD,
        client: "memcached-add",
        fault: "eviction",
        settings: &[],
        seed: 0,
        kind: Kind::LostUpdate,
        cause: Cause::Eviction,
        remedy: "A server of its own for locks, with more memory than they need. The cas id as \
         fencing token keeps the harm away: an eviction does not set it back.",
        fixed: Some(Fixed { client: "memcached-cas", settings: &[], kind: Kind::LostUpdate }),
        source: "IPC::Lock::Memcached documentation, *A little warning*.",
    },
    Exhibit {
        name: "memcached-flushed",
        title: "An operator empties the cache",
        question: "Somebody flushes a cache that serves stale pages. What if locks live in it, \
                   too?",
        protocol: ADD,
        client: "memcached-add",
        fault: "eviction",
        settings: &[],
        seed: 11,
        kind: Kind::LostUpdate,
        cause: Cause::Flush,
        remedy: "A server of its own for locks, with `flush_all` disabled (`-F`). The cas id as \
                 fencing token keeps the harm away: a flush does not set it back.",
        fixed: Some(Fixed { client: "memcached-cas", settings: &[], kind: Kind::LostUpdate }),
        source: "memcached, doc/protocol.txt, `flush_all`, 1.6.18.",
    },
    Exhibit {
        name: "memcached-early-expiry",
        title: "Ten seconds that are nine",
        question: "A lease of ten seconds, and holders that are done in less than ten. What can \
         go wrong without any fault?",
        protocol: ADD,
        client: "memcached-add",
        fault: "none",
        settings: &[("hold", "9200ms..9900ms")],
        seed: 0,
        kind: Kind::Overlap,
        cause: Cause::CoarseExpiry,
        remedy: "Ask for one second more than the lease shall last.",
        fixed: Some(Fixed {
            client: "memcached-cas",
            settings: &[("hold", "9200ms..9900ms")],
            kind: Kind::Overlap,
        }),
        source: "memcached, `clock_handler` in memcached.c, 1.6.18.",
    },
    Exhibit {
        name: "memcached-token-restart",
        title: "A token from a server that forgets",
        question: "The cas id grows with every item that is stored. Does it after a restart?",
        protocol: CAS,
        client: "memcached-cas",
        fault: "restart",
        settings: &[],
        seed: 0,
        kind: Kind::TokenRegression,
        cause: Cause::RestartDataLoss,
        remedy: "Tokens from a counter that is as durable as what they guard: here `fencing` on a \
         Redis that syncs every write.",
        fixed: Some(Fixed {
            client: "fencing",
            settings: &[("persistence", "aof-always")],
            kind: Kind::TokenRegression,
        }),
        source: KLEPPMANN,
    },
];
