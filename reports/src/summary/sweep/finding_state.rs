//! The [`FindingState`] of an anomaly in the store of findings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of a finding in a store.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FindingState {
    /// The last sweep found it first, or found it again after it had been fixed.
    New,
    /// An earlier sweep found it.
    Known,
    /// Somebody accepted it, so it does not make a sweep fail.
    Accepted,
    /// None of its seeds shows it any more.
    Fixed,
}

impl FindingState {
    /// All states, the most urgent first.
    pub const ALL: [FindingState; 4] =
        [FindingState::New, FindingState::Known, FindingState::Accepted, FindingState::Fixed];

    /// Returns the name used in the store.
    pub fn name(self) -> &'static str {
        match self {
            FindingState::New => "new",
            FindingState::Known => "known",
            FindingState::Accepted => "accepted",
            FindingState::Fixed => "fixed",
        }
    }
}
