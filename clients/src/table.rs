//! Every lock, by name: a new lock is a file of its own and an entry here. Must never know how one works.

use crate::fencing::Fencing;
use crate::lock::{Definition, Deployment};
use crate::redlock::Redlock;
use crate::single_node::SingleNode;

/// Every lock, in the order in which they are listed.
pub static CLIENTS: &[Definition] = &[
    Definition {
        name: "single-node",
        about: "SET key owner NX PX ttl on one Redis; release by compare-and-delete in Lua",
        deployment: Deployment::Primary,
        has_tokens: false,
        models: None,
        build: SingleNode::build,
    },
    Definition {
        name: "redlock",
        about: "the five steps of the Redis documentation on independent masters, with drift margin and random retry delay",
        deployment: Deployment::Independent,
        has_tokens: false,
        models: None,
        build: Redlock::build,
    },
    Definition {
        name: "fencing",
        about: "single-node, with a token from INCR in the acquire script that the storage checks",
        deployment: Deployment::Primary,
        has_tokens: true,
        models: None,
        build: Fencing::build,
    },
];

/// The lock of that name.
pub fn find(name: &str) -> Option<&'static Definition> {
    CLIENTS.iter().find(|definition| definition.name == name)
}
