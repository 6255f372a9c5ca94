//! Exhibits of locks on ZooKeeper.

use super::exhibit::{Exhibit, Fixed, KLEPPMANN};
use fencepost_reports::{Cause, Kind};

const MUTEX: [&str; 5] = [
    "Create an ephemeral sequential node below the lock; it lives as long as the session.",
    "The lowest number has the lock; each other waits for the node before its own to go.",
    "Read the guarded value, work, write it back.",
    "Release: delete the own node.",
    "The servers end a session that they have not heard of for its timeout, and its nodes go.",
];
const FENCED: [&str; 5] = [
    "Create an ephemeral sequential node below the lock; it lives as long as the session.",
    "The lowest number has the lock; its czxid, the number of the change that made it, is the \
     token.",
    "Every request to the storage carries the token.",
    "The storage remembers the highest token, and rejects any request with a lower one.",
    "Release: delete the own node.",
];
const RECIPE: [&str; 5] = [
    "Create an ephemeral sequential node below the lock; it lives as long as the session.",
    "The lowest number has the lock; each other waits for the node before its own to go.",
    "Release: delete the own node.",
    "A connection that breaks is replaced, and the session goes on.",
    "A create whose reply was lost is made again.",
];
const WATCHING: [&str; 5] = [
    "Create an ephemeral sequential node below the lock; it lives as long as the session.",
    "The lowest number has the lock; each other sets a watch on the node before its own.",
    "The server keeps the watch, tells once that the node was deleted, and forgets it.",
    "A connection that breaks is replaced, and the session goes on; the watches are not set again.",
    "Release: delete the own node.",
];
const GIVING_UP: [&str; 5] = [
    MUTEX[0],
    MUTEX[1],
    "A client that has been without a server for as long as its session lasts takes the session \
     for over, without asking, and begins another one (Curator).",
    "Whoever waits in the queue goes on waiting with its node, and whoever holds goes on.",
    MUTEX[4],
];
const READING: [&str; 5] = [
    MUTEX[0],
    MUTEX[1],
    "Whose turn it is a process learns from the server that it is connected to, by a read.",
    "A server answers reads from what it knows by then; only what is written is agreed upon.",
    MUTEX[4],
];
const LOOKING: [&str; 5] = [
    "Create an ephemeral sequential node below the lock, with a GUID in its name.",
    "No reply: look for a node with the GUID, and take it for the own one.",
    MUTEX[1],
    "A client that has been without a server for as long as its session lasts takes the session \
     for over, without asking, and begins another one (Curator).",
    "The servers end a session at the tick that follows its timeout, and its nodes go.",
];

/// One server, and message latencies close to the holds, so that much is in transit when a reply is
/// lost.
const SLOW_AND_ALONE: &[(&str, &str)] =
    &[("ensemble", "1"), ("cycles", "60"), ("hold", "10ms..100ms"), ("latency", "20ms..100ms")];
/// A server whose downtime exceeds a client's wait, and retries as in Curator's documentation.
const AWAY: &[(&str, &str)] =
    &[("ensemble", "1"), ("ttl", "4s"), ("retry", "1s..1s"), ("restart-delay", "6s..10s")];
/// Two processes that are often idle, and cuts that end when a client has given its session up. It
/// takes a lost reply followed by a cut, which two aimed faults rarely produce.
const OFTEN_IDLE: &[(&str, &str)] = &[
    ("ensemble", "1"),
    ("processes", "2"),
    ("hold", "700ms..1s"),
    ("think", "1s..3s"),
    ("fault-window", "2s..8s"),
    ("partition", "8s..10s"),
    ("strategy", "uniform"),
];
/// Servers that are cut off for about the length of a session.
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
        title: "A session that ends in a pause",
        question: "ZooKeeper agrees on every change by majority. Is its lock safe when the holder \
        stands still?",
        protocol: MUTEX,
        client: "curator-mutex",
        fault: "pause",
        settings: &[],
        seed: 2,
        kind: Kind::LostUpdate,
        cause: Cause::SessionExpired,
        remedy: "Fencing tokens, which the storage checks: the czxid of the node is one. Leaving \
         the section when the connection is lost does not help a process that stands still.",
        fixed: Some(Fixed { client: "curator-fencing", settings: &[], kind: Kind::LostUpdate }),
        source: KLEPPMANN,
    },
    Exhibit {
        name: "zookeeper-czxid",
        title: "Two holders, and no harm",
        question: "What does the czxid as fencing token change about two holders at once?",
        protocol: FENCED,
        client: "curator-fencing",
        fault: "pause",
        settings: &[],
        seed: 2,
        kind: Kind::Overlap,
        cause: Cause::SessionExpired,
        remedy: "None is needed: two processes believe that they hold the lock, and from the first \
         request of the later one on the storage rejects what the earlier one sends. Here the \
         write of the earlier one comes before that and is accepted, and the later one reads it. \
         What goes elsewhere than to the storage is not protected.",
        fixed: None,
        source: KLEPPMANN,
    },
    Exhibit {
        name: "zookeeper-orphan",
        title: "A node that nobody knows of",
        question: "The reply to a create is lost. What if it is made again?",
        protocol: RECIPE,
        client: "curator-unprotected",
        fault: "lost-reply",
        settings: SLOW_AND_ALONE,
        seed: 0,
        kind: Kind::Stuck,
        cause: Cause::OrphanNode,
        remedy: "A name that the client chooses, by which it looks for its node before it creates \
         another one: Curator's protection mode.",
        fixed: Some(Fixed { client: "curator-mutex", settings: SLOW_AND_ALONE, kind: Kind::Stuck }),
        source: "Curator documentation, *withProtection*; ZooKeeper documentation, *Recipes and \
         Solutions*, note on recoverable errors.",
    },
    Exhibit {
        name: "zookeeper-lost-watch",
        title: "A watch that no server keeps",
        question: "A waiter loses its connection, and the lock becomes free. Who tells it?",
        protocol: WATCHING,
        client: "zookeeper-lost-watch",
        fault: "lost-reply",
        settings: &[("ensemble", "1")],
        seed: 5,
        kind: Kind::Stuck,
        cause: Cause::LostWatch,
        remedy: "Set the watches again after each reconnect, as the Java client does unless told \
         not to (`zookeeper.disableAutoWatchReset`), and look at the queue again when the \
         connection comes back.",
        fixed: Some(Fixed {
            client: "zookeeper-naive",
            settings: &[("ensemble", "1")],
            kind: Kind::Stuck,
        }),
        source: "ZooKeeper documentation, Programmer's Guide, *ZooKeeper Watches*.",
    },
    Exhibit {
        name: "zookeeper-given-up-session",
        title: "A session that was given up too early",
        question: "A client finds its session over, and begins another one. Is the first over?",
        protocol: GIVING_UP,
        client: "curator-mutex",
        fault: "restart",
        settings: AWAY,
        seed: 0,
        kind: Kind::Overlap,
        cause: Cause::SessionExpired,
        remedy: "A server that comes back begins the timeouts of all sessions anew. A client that \
         leaves it to the servers to say that its session is over (kazoo, the plain Java client) \
         still has it then. Fencing tokens keep the harm away.",
        fixed: Some(Fixed { client: "kazoo-lock", settings: AWAY, kind: Kind::Overlap }),
        source: "Curator, `ConnectionStateManager.checkSessionExpiration` and \
         `simulatedSessionExpirationPercent`, 5.4.0.",
    },
    Exhibit {
        name: "zookeeper-other-session",
        title: "A node of another session",
        question: "The reply to a create is lost, and the node is found again by its name. Is it \
        one's own?",
        protocol: LOOKING,
        client: "curator-any-session",
        fault: "lost-reply+partition",
        settings: OFTEN_IDLE,
        seed: 163,
        kind: Kind::Overlap,
        cause: Cause::SessionExpired,
        remedy: "Compare the session that made the node with the present one, and delete a node of \
        another (Curator 4.3.0).",
        fixed: Some(Fixed { client: "curator-mutex", settings: OFTEN_IDLE, kind: Kind::Overlap }),
        source: "CURATOR-498, *Protected Mode creation can mistake closing session's node*.",
    },
    Exhibit {
        name: "zookeeper-stale-read",
        title: "A server that is behind",
        question: "A majority agrees on every change. Does every server know of it?",
        protocol: READING,
        client: "kazoo-lock",
        fault: "partition",
        settings: BEHIND,
        seed: 142,
        kind: Kind::LostUpdate,
        cause: Cause::StaleRead,
        remedy: "Fencing tokens, which the storage checks: the czxid of the node is one. A `sync` \
        before the read has the server come level first; none of these locks does that.",
        fixed: Some(Fixed { client: "curator-fencing", settings: BEHIND, kind: Kind::LostUpdate }),
        source: "ZooKeeper documentation, *Consistency Guarantees*: single system image and \
         timeliness.",
    },
];
