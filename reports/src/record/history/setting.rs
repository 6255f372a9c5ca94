//! What a history says of the storage and of the servers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

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

/// What a server keeps a lock as.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keeping {
    /// A row that says until when it is held; the processes judge that by their wall clocks.
    RowByClients,
    /// A row that says until when it is held; the server judges that by its wall clock.
    RowByServer,
    /// A lock of a connection: it goes when the connection ends, and has no ttl.
    Connection,
    /// A key that goes when its lease ends; the process of its holder keeps that alive.
    Lease,
}
