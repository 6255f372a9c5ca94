use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nodes that `pause` and `clock-jump` may hit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Victims {
    /// Processes and servers.
    #[default]
    All,
    /// Only servers, for locks whose processes cannot be paused.
    Servers,
}

impl Victims {
    pub fn is_all(&self) -> bool {
        *self == Victims::All
    }
}
