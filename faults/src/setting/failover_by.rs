//! The ways in which `failover` removes a primary, as [`FailoverBy`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// By what a primary is lost for which another server takes over.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FailoverBy {
    /// Any of these, drawn for each failover.
    #[default]
    Drawn,
    /// The primary crashes, and restarts when another has taken over. There are never
    /// two primaries.
    Crash,
    /// The primary is cut off with one client, which goes on writing to it.
    Isolation,
    /// The primary is paused until another has taken over, and continues as a primary. Only
    /// Sentinel replaces such a primary.
    Pause,
}

impl FailoverBy {
    /// Returns the name used in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            FailoverBy::Drawn => "drawn",
            FailoverBy::Crash => "crash",
            FailoverBy::Isolation => "isolation",
            FailoverBy::Pause => "pause",
        }
    }

    /// Returns whether the value is the default, which serde skips.
    pub fn is_drawn(&self) -> bool {
        *self == FailoverBy::Drawn
    }

    pub(crate) fn isolates(self, drawn: bool) -> bool {
        self == FailoverBy::Isolation || self.is_drawn() && drawn
    }

    pub(crate) fn pauses(self, drawn: bool) -> bool {
        self == FailoverBy::Pause || self.is_drawn() && drawn
    }
}
