//! How servers keep their data, and the order in which clients know them.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a restarted server finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Persistence {
    /// Nothing.
    None,
    /// The latest snapshot.
    Rdb,
    /// Everything written; after a power loss, all but the latest second.
    AofEverysec,
    /// Everything that was acknowledged.
    AofAlways,
}

/// In which order a process knows the independent masters: a lock that asks one after the other
/// begins with the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum MastersOrder {
    /// All processes in the same.
    Same,
    /// Each process begins one master later than the one before it, as if it asked the nearest
    /// first.
    Rotated,
}
