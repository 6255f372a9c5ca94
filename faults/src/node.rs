//! The names of the machines in a run. Must never know what runs on them or where they are in memory.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A machine of the simulated deployment. Numbers start at 1, as people count: `redis-1`, `client-3`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Node {
    /// A Redis server. In a deployment with Sentinel, `redis-1` is the first primary.
    Redis(u16),
    /// A Sentinel.
    Sentinel(u16),
    /// The protected storage that the lock guards.
    Storage,
    /// A process that takes the lock.
    Client(u16),
    /// The process that tries the lock once after everything is healed; no fault ever hits it.
    Probe,
}

/// A name that is no machine's.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown node '{0}': expected redis-N, sentinel-N, client-N, storage or probe, with N from 1 to 65535")]
pub struct UnknownNode(pub String);

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Redis(n) => f.pad(&format!("redis-{n}")),
            Node::Sentinel(n) => f.pad(&format!("sentinel-{n}")),
            Node::Storage => f.pad("storage"),
            Node::Client(n) => f.pad(&format!("client-{n}")),
            Node::Probe => f.pad("probe"),
        }
    }
}

impl FromStr for Node {
    type Err = UnknownNode;

    fn from_str(text: &str) -> Result<Node, UnknownNode> {
        let unknown = || UnknownNode(text.to_owned());
        match text {
            "storage" => return Ok(Node::Storage),
            "probe" => return Ok(Node::Probe),
            _ => {}
        }
        let (kind, number) = text.split_once('-').ok_or_else(unknown)?;
        let number: u16 = number.parse().map_err(|_| unknown())?;
        match (kind, number) {
            (_, 0) => Err(unknown()),
            ("redis", n) => Ok(Node::Redis(n)),
            ("sentinel", n) => Ok(Node::Sentinel(n)),
            ("client", n) => Ok(Node::Client(n)),
            _ => Err(unknown()),
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Node {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Node".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "A machine of the simulated deployment.",
            "pattern": "^(redis-[1-9][0-9]*|sentinel-[1-9][0-9]*|client-[1-9][0-9]*|storage|probe)$"
        })
    }
}
