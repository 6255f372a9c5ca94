//! Nodes that pauses and clock steps hit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nodes that `pause` and `clock-jump` hit.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Victims {
    /// Processes and servers.
    #[default]
    All,
    /// Servers only, where no process can be paused.
    Servers,
}

impl Victims {
    /// Lets serde skip the default.
    pub fn is_all(&self) -> bool {
        *self == Victims::All
    }
}
