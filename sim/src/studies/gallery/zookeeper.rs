use super::exhibit::{Exhibit, Fixed, KLEPPMANN, Run};
use crate::diagnosis::Target;
use fencepost_reports::{Cause, Kind};

const MUTEX: [&str; 5] = [
    "Create an ephemeral sequential node under the lock's node. It lives as long as the session.",
    "The process whose node has the lowest number has the lock. Every other process waits until \
     the node before its own is deleted.",
    "Read the guarded value, work on it, write it back.",
    "Release: delete the process's own node.",
    "If a session is silent for longer than its timeout, the servers end it and delete its nodes.",
];
const FENCED: [&str; 5] = [
    "Create an ephemeral sequential node under the lock's node. It lives as long as the session.",
    "The process whose node has the lowest number has the lock. Its czxid, the id of the \
     change that created it, is the token.",
    "Every request to the storage carries the token.",
    "The storage remembers the highest token and rejects any request with a lower one.",
    "Release: delete the process's own node.",
];
const RECIPE: [&str; 5] = [
    "Create an ephemeral sequential node under the lock's node. It lives as long as the session.",
    "The process whose node has the lowest number has the lock. Every other process waits until \
     the node before its own is deleted.",
    "Release: delete the process's own node.",
    "The client replaces a broken connection, and the session continues.",
    "If the reply to a create is lost, the client creates another node.",
];
const WATCHING: [&str; 5] = [
    "Create an ephemeral sequential node under the lock's node. It lives as long as the session.",
    "The process whose node has the lowest number has the lock. Every other process sets a \
     watch on the node before its own.",
    "The server keeps the watch, reports once that the node was deleted, and drops the watch.",
    "The client replaces a broken connection and the session continues, but the client does not \
     set its watches again.",
    "Release: delete the process's own node.",
];
const GIVING_UP: [&str; 5] = [
    MUTEX[0],
    MUTEX[1],
    "A client that has been without a server for its session timeout assumes that the session has \
     ended and starts another one (Curator).",
    "A process in the queue keeps waiting with its old node, and a holder keeps working.",
    MUTEX[4],
];
const READING: [&str; 5] = [
    MUTEX[0],
    MUTEX[1],
    "A process learns whose turn it is by reading from the server that it is connected to.",
    "A server answers reads from its own copy; only writes go through the majority.",
    MUTEX[4],
];
const LOOKING: [&str; 5] = [
    "Create an ephemeral sequential node under the lock's node, with a GUID in its name.",
    "If the reply is lost, look for a node with that GUID and use it.",
    MUTEX[1],
    "A client that has been without a server for its session timeout assumes that the session has \
     ended and starts another one (Curator).",
    "The servers end a session at the first tick after its timeout, and delete its nodes.",
];

const SLOW_AND_ALONE: &[(&str, &str)] =
    &[("ensemble", "1"), ("cycles", "60"), ("hold", "10ms..100ms"), ("latency", "20ms..100ms")];
/// Downtimes exceed the session timeout. The retry delay is from an example in Curator's docs.
const AWAY: &[(&str, &str)] =
    &[("ensemble", "1"), ("ttl", "4s"), ("retry", "1s..1s"), ("restart-delay", "6s..10s")];
/// The anomaly needs a lost reply followed by a partition, which aimed faults rarely produce.
const OFTEN_IDLE: &[(&str, &str)] = &[
    ("ensemble", "1"),
    ("processes", "2"),
    ("hold", "700ms..1s"),
    ("think", "1s..3s"),
    ("fault-window", "2s..8s"),
    ("partition", "8s..10s"),
    ("strategy", "uniform"),
];
const BEHIND: &[(&str, &str)] = &[
    ("processes", "6"),
    ("ttl", "4s"),
    ("hold", "10ms..1s"),
    ("latency", "100us..1ms"),
    ("partition", "4s..6s"),
];

pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "zookeeper-session",
        title: "A session that ends during a pause",
        question: "ZooKeeper commits every change by majority. Is its lock safe when the holder is \
                   paused?",
        protocol: MUTEX,
        run: Run { client: "curator-mutex", fault: "pause", seed: 2 },
        settings: &[],
        target: Target { kind: Kind::LostUpdate, cause: Cause::SessionExpired },
        remedy: "Use fencing tokens that the storage checks, such as the czxid of the node. \
                 Leaving the critical section when the connection is lost does not help a paused \
                 process.",
        fixed: Some(Fixed { client: "curator-fencing", settings: &[], kind: Kind::LostUpdate }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "zookeeper-czxid",
        title: "Two holders without harm, on ZooKeeper",
        question: "Does using the czxid as a fencing token prevent two simultaneous holders?",
        protocol: FENCED,
        run: Run { client: "curator-fencing", fault: "pause", seed: 2 },
        settings: &[],
        target: Target { kind: Kind::Overlap, cause: Cause::SessionExpired },
        remedy: "None is needed. Two processes believe that they hold the lock, but after the \
                 first request of the later holder the storage rejects all requests of the earlier \
                 one. Here the earlier holder's write arrives before that request, so the storage \
                 accepts it and the later holder reads its result. Other systems that the holder \
                 writes to are not protected.",
        fixed: None,
        source: KLEPPMANN,
    },
    Exhibit {
        name: "zookeeper-orphan",
        title: "A node that no process knows of",
        question: "The reply to a create is lost. What if the client creates the node again?",
        protocol: RECIPE,
        run: Run { client: "curator-unprotected", fault: "lost-reply", seed: 0 },
        settings: SLOW_AND_ALONE,
        target: Target { kind: Kind::Stuck, cause: Cause::OrphanNode },
        remedy: "Put a name chosen by the client into the node, and look for it before creating \
                 another node, as Curator's protection mode does.",
        fixed: Some(Fixed { client: "curator-mutex", settings: SLOW_AND_ALONE, kind: Kind::Stuck }),
        source: "Curator documentation, *withProtection*; ZooKeeper documentation, *Recipes and \
         Solutions*, note on recoverable errors.",
    },
    Exhibit {
        name: "zookeeper-lost-watch",
        title: "A watch that no server keeps",
        question: "A waiter loses its connection, and the lock becomes free. Who tells the waiter?",
        protocol: WATCHING,
        run: Run { client: "zookeeper-lost-watch", fault: "lost-reply", seed: 5 },
        settings: &[("ensemble", "1")],
        target: Target { kind: Kind::Stuck, cause: Cause::LostWatch },
        remedy: "Set the watches again after each reconnect, as the Java client does unless \
                 `zookeeper.disableAutoWatchReset` is set, and check the queue again when the \
                 connection is back.",
        fixed: Some(Fixed {
            client: "zookeeper-naive",
            settings: &[("ensemble", "1")],
            kind: Kind::Stuck,
        }),
        source: "ZooKeeper documentation, Programmer's Guide, *ZooKeeper Watches*.",
    },
    Exhibit {
        name: "zookeeper-given-up-session",
        title: "A session that was abandoned too early",
        question: "A client assumes that its session has ended and starts another one. Has the \
                   first one really ended?",
        protocol: GIVING_UP,
        run: Run { client: "curator-mutex", fault: "restart", seed: 0 },
        settings: AWAY,
        target: Target { kind: Kind::Overlap, cause: Cause::SessionExpired },
        remedy: "A restarted server restarts the timeouts of all sessions. Use a client that lets \
                 the servers decide when its session ends (kazoo, the plain Java client): its \
                 session survives such a gap. Fencing tokens prevent the harm.",
        fixed: Some(Fixed { client: "kazoo-lock", settings: AWAY, kind: Kind::Overlap }),
        source: "Curator, `ConnectionStateManager.checkSessionExpiration` and \
         `simulatedSessionExpirationPercent`, 5.4.0.",
    },
    Exhibit {
        name: "zookeeper-other-session",
        title: "A node of another session",
        question: "The reply to a create is lost, and the client finds the node by its name. Does \
                   the node belong to its present session?",
        protocol: LOOKING,
        run: Run { client: "curator-any-session", fault: "lost-reply+partition", seed: 163 },
        settings: OFTEN_IDLE,
        target: Target { kind: Kind::Overlap, cause: Cause::SessionExpired },
        remedy: "Check that the current session created the node, and delete the node if it did \
                 not (Curator 4.3.0).",
        fixed: Some(Fixed { client: "curator-mutex", settings: OFTEN_IDLE, kind: Kind::Overlap }),
        source: "CURATOR-498, *Protected Mode creation can mistake closing session's node*.",
    },
    Exhibit {
        name: "zookeeper-stale-read",
        title: "A server that lags behind",
        question: "A majority agrees on every change. Does every server know about it?",
        protocol: READING,
        run: Run { client: "kazoo-lock", fault: "partition", seed: 142 },
        settings: BEHIND,
        target: Target { kind: Kind::LostUpdate, cause: Cause::StaleRead },
        remedy: "Use fencing tokens that the storage checks, such as the czxid of the node. A \
                 `sync` before the client reads the queue makes the server catch up first, but no \
                 ZooKeeper lock in fencepost sends one.",
        fixed: Some(Fixed { client: "curator-fencing", settings: BEHIND, kind: Kind::LostUpdate }),
        source: "ZooKeeper documentation, *Consistency Guarantees*: single system image and \
         timeliness.",
    },
];
