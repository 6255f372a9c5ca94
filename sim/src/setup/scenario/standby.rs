//! The standby of a PostgreSQL server, and how an operator promotes it.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a standby receives a commit of its primary.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Standby {
    /// Some time after the commit was acknowledged.
    Asynchronous,
    /// Before the commit is acknowledged (`synchronous_standby_names`).
    Synchronous,
}

impl Standby {
    /// Returns the name in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            Standby::Asynchronous => "asynchronous",
            Standby::Synchronous => "synchronous",
        }
    }
}

/// The old primary's fate when the standby is promoted.
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema, ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum OldPrimary {
    /// One or the other, with equal probability.
    #[default]
    Drawn,
    /// The operator first stops it for good.
    Stopped,
    /// The old primary is not stopped: once it is back or reachable, there are two primaries.
    Running,
}

impl OldPrimary {
    /// Returns the name in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            OldPrimary::Drawn => "drawn",
            OldPrimary::Stopped => "stopped",
            OldPrimary::Running => "running",
        }
    }

    pub(super) fn is_drawn(&self) -> bool {
        *self == OldPrimary::Drawn
    }
}
