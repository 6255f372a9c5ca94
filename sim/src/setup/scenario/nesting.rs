//! How often a critical section acquires its lock a second time.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The critical sections that take and release a re-entrant lock a second time half-way through. In
/// most libraries a nested acquire renews the lease, which hides a critical section that is too
/// long.
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema, ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Nesting {
    /// About half of the critical sections.
    #[default]
    Drawn,
    /// Every one.
    Always,
    /// None.
    Never,
}

impl Nesting {
    /// Returns the nesting of reports without this key, in which every critical section was nested.
    pub(super) fn unsaid() -> Nesting {
        Nesting::Always
    }

    pub(super) fn is_unsaid(&self) -> bool {
        *self == Nesting::unsaid()
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Nesting::Drawn => "drawn",
            Nesting::Always => "always",
            Nesting::Never => "never",
        }
    }
}
