use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// Time at which a standby receives a commit of its primary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[derive(Serialize, Deserialize, JsonSchema, ValueEnum, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Standby {
    /// A commit may be acknowledged before the standby receives it.
    Asynchronous,
    /// A commit is acknowledged after the standby receives it (`synchronous_standby_names`).
    Synchronous,
}

impl Standby {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Fate of the old primary when an operator promotes the standby.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[derive(Serialize, Deserialize, JsonSchema, ValueEnum, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum OldPrimary {
    /// The operator stops the old primary for good, or does not stop it, with equal probability.
    #[default]
    Drawn,
    /// The operator stops the old primary for good before promoting the standby.
    Stopped,
    /// The old primary is not stopped. Once it is back or reachable, there are two primaries.
    Running,
}

impl OldPrimary {
    pub fn name(self) -> &'static str {
        self.into()
    }
}
