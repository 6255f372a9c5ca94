//! Nodes from which `partition` separates processes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The nodes from which `partition` separates processes.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CutOff {
    /// Servers of the lock; where they talk to each other, these from one another, too.
    #[default]
    Servers,
    /// The guarded storage.
    Storage,
}

impl CutOff {
    /// Lets serde skip the default.
    pub fn is_servers(&self) -> bool {
        *self == CutOff::Servers
    }
}
