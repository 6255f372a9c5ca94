//! The kinds of lock calls that an application gives up.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The lock calls that an application gives up.
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema, ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Calls {
    /// None: it waits for every answer.
    #[default]
    None,
    /// Acquires.
    Acquire,
    /// Releases.
    Release,
    /// Acquires and releases.
    Both,
}

impl Calls {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Calls::None => "none",
            Calls::Acquire => "acquire",
            Calls::Release => "release",
            Calls::Both => "both",
        }
    }

    pub(super) fn are_none(&self) -> bool {
        *self == Calls::None
    }

    pub(crate) fn have_acquires(self) -> bool {
        matches!(self, Calls::Acquire | Calls::Both)
    }

    pub(crate) fn have_releases(self) -> bool {
        matches!(self, Calls::Release | Calls::Both)
    }
}
