//! What `partition` cuts processes off from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `partition` cuts processes off from.
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
    /// Whether it need not be written down.
    pub fn is_servers(&self) -> bool {
        *self == CutOff::Servers
    }
}
