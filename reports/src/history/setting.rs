//! What a history says of the storage and of what it guards.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// What is guarded.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    Debug,
    Display,
    EnumMessage,
    EnumString,
    IntoStaticStr,
    VariantArray,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Workload {
    /// One value, read, changed and written back.
    Register,
    /// A flash sale: stock that must not be sold twice.
    Seckill,
    /// A global increasing number.
    Sequence,
}

/// How the storage treats tokens.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    Debug,
    Display,
    EnumMessage,
    EnumString,
    IntoStaticStr,
    VariantArray,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum StorageRule {
    /// Reads and writes with a token lower than the highest seen are rejected.
    Fenced,
    /// Only writes are checked.
    FencedWrites,
    /// Nothing is checked.
    Unchecked,
    /// Checked, but the write happens a moment later, without another look.
    CheckThenWrite,
}
