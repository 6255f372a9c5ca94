use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Sentinel client's reaction to a new primary.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[derive(Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Switches {
    /// The client listens for `+switch-master` and leaves the old primary immediately, as Redis's
    /// guidelines for clients suggest (documentation, "Sentinel client spec").
    #[default]
    Heard,
    /// The client stays with the old primary until its connection ends, as redis-py does.
    Ignored,
}
