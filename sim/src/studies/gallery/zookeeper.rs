//! Exhibits of locks on ZooKeeper.

use super::exhibits::{Exhibit, Fixed, KLEPPMANN};
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
/// The exhibits of this file, in the order of the index.
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
        remedy: "None is needed: two processes believe that they hold the lock, and the storage \
         rejects what the earlier one sends. What goes elsewhere than to the storage is not \
         protected.",
        fixed: None,
        source: KLEPPMANN,
    },
];
