//! Independent random streams from one [`Seed`], which is part of a ChaCha8 key. Each consumer has
//! its own stream id, so that removing a consumer does not change the draws of the others.

use crate::node::Node;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Determines all random choices of a run. In JSON, a seed is a decimal string.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Seed(pub u64);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// The faults of the family with this number.
    Plan(u16),
    /// The families that swarm testing enables, and their intensity.
    Swarm,
    /// Choices of a thread's workload, such as how long it holds the lock.
    Workload(Node),
    /// Retry delays. The threads of a process share the stream.
    Jitter(Node),
    /// Owner values of locks. The threads of a process share the stream.
    Owner(Node),
    /// Random values that a server draws, such as run ids and election delays.
    Server(Node),
    Clock(Node),
    /// Latency in one direction of a link.
    Latency(Node, Node),
    /// Lengths of leases, critical sections and waits.
    Lengths,
    /// The choice of incidents to move, and of their new places.
    Aim,
    Priorities,
    /// The choice of lock calls that a thread abandons.
    Impatience(Node),
    /// The choice of critical sections in which a thread takes a re-entrant lock again.
    Nesting(Node),
    /// Number of unsynced bytes that survive a server's power loss, with torn writes.
    Torn(Node),
    /// Ids of a machine that programs read, such as its machine id.
    Machine(Node),
}

impl Seed {
    pub fn stream(self, stream: Stream) -> ChaCha8Rng {
        let mut key = [0_u8; 32];
        key[..8].copy_from_slice(&self.0.to_le_bytes());
        key[8..24].copy_from_slice(b"fencepost seed 1");
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(stream.id());
        rng
    }
}

impl Stream {
    fn id(self) -> u64 {
        let (kind, a, b) = match self {
            Stream::Plan(family) => (1, u64::from(family), 0),
            Stream::Swarm => (2, 0, 0),
            Stream::Workload(node) => (3, code(node), thread(node)),
            Stream::Jitter(node) => (4, code(node), thread(node)),
            Stream::Owner(node) => (5, code(node), thread(node)),
            Stream::Server(node) => (6, code(node), thread(node)),
            Stream::Clock(node) => (7, code(node), thread(node)),
            Stream::Latency(from, to) => (8, code(from), code(to)),
            Stream::Lengths => (9, 0, 0),
            Stream::Aim => (10, 0, 0),
            Stream::Priorities => (11, 0, 0),
            Stream::Impatience(node) => (12, code(node), thread(node)),
            Stream::Nesting(node) => (13, code(node), thread(node)),
            Stream::Torn(node) => (14, code(node), 0),
            Stream::Machine(node) => (15, code(node), 0),
        };
        kind << 56 | a << 28 | b
    }
}

fn code(node: Node) -> u64 {
    let (kind, number) = match node.machine() {
        Node::Redis(n) => (1, n),
        Node::Sentinel(n) => (2, n),
        Node::Storage => (3, 0),
        Node::Client(n) | Node::Thread { client: n, .. } => (4, n),
        Node::Probe => (5, 0),
        Node::Server(n) => (6, n),
    };
    kind << 16 | u64::from(number)
}

fn thread(node: Node) -> u64 {
    match node {
        Node::Thread { thread, .. } => u64::from(thread),
        _ => 0,
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Seed, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = text.parse().map_err(|_| {
            serde::de::Error::custom(format!(
                "seed '{text}': expected a decimal number from 0 to 2^64-1"
            ))
        })?;
        Ok(Seed(number))
    }
}

impl JsonSchema for Seed {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Seed".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "description": "A number \
         from 0 to 2^64-1, in decimal.", "pattern": "^[0-9]{1,20}$" })
    }
}
