use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data of a server that survives a restart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Persistence {
    /// No data survives.
    None,
    /// The latest snapshot survives.
    Rdb,
    /// All writes survive a crash. Those of about the last second may not survive a power loss.
    AofEverysec,
    /// All acknowledged writes survive.
    AofAlways,
}

/// Order in which a process asks the independent masters, for locks that ask one master after
/// another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum MastersOrder {
    /// All processes ask the masters in the same order.
    Same,
    /// Each process starts one master later than the previous process, as if each process asked the
    /// nearest master first.
    Rotated,
}
