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
    /// Only servers, for `fencepost serve`, which does not control the processes.
    Servers,
}

impl Victims {
    pub fn is_all(&self) -> bool {
        *self == Victims::All
    }
}
