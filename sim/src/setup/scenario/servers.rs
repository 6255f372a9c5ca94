//! The persistence of servers, and the order in which clients ask them.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data that survives a restart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Persistence {
    /// None.
    None,
    /// The latest snapshot.
    Rdb,
    /// All writes; after a power loss, all but those of the last second.
    AofEverysec,
    /// All acknowledged writes.
    AofAlways,
}

/// The order of the independent masters in a process. A lock that asks one after the other starts
/// with the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum MastersOrder {
    /// The same order in all processes.
    Same,
    /// Each process starts one master later than the previous process, as if it asked the nearest
    /// first.
    Rotated,
}
