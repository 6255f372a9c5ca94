use clap::ValueEnum;
use fake_redis::config::RedisVersion as ModelledVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Server data that survives a restart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Persistence {
    /// No data survives.
    None,
    /// The latest snapshot survives.
    Rdb,
    /// All writes survive a crash. A power loss may lose the writes of about the last second.
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

/// Version that the simulated Redis imitates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[derive(Serialize, Deserialize, JsonSchema, ValueEnum)]
pub enum RedisVersion {
    /// Replicates relative expiry times.
    #[serde(rename = "6.2")]
    #[value(name = "6.2")]
    V6_2,
    /// Replicates absolute expiry times.
    #[default]
    #[serde(rename = "7.0")]
    #[value(name = "7.0")]
    V7_0,
    /// WAIT counts only the connection's own writes, and there is WAITAOF.
    #[serde(rename = "7.2")]
    #[value(name = "7.2")]
    V7_2,
    /// Adds SET IFEQ and DELEX.
    #[serde(rename = "8.4")]
    #[value(name = "8.4")]
    V8_4,
}

impl RedisVersion {
    pub fn name(self) -> &'static str {
        match self {
            RedisVersion::V6_2 => "6.2",
            RedisVersion::V7_0 => "7.0",
            RedisVersion::V7_2 => "7.2",
            RedisVersion::V8_4 => "8.4",
        }
    }

    pub(crate) fn modelled(self) -> ModelledVersion {
        match self {
            RedisVersion::V6_2 => ModelledVersion::V6_2,
            RedisVersion::V7_0 => ModelledVersion::V7_0,
            RedisVersion::V7_2 => ModelledVersion::V7_2,
            RedisVersion::V8_4 => ModelledVersion::V8_4,
        }
    }
}
