use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nodes from which `partition` separates processes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CutOff {
    /// Servers. A partition may also separate servers from one another or from Sentinels.
    #[default]
    Servers,
    /// Guarded storage.
    Storage,
}

impl CutOff {
    pub fn is_servers(&self) -> bool {
        *self == CutOff::Servers
    }
}
