//! The kinds of critical sections.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of critical section: whether a pause of the process delays its end.
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema, ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Section {
    /// Waiting, for example for another system: it ends when its time has passed, even if the
    /// process was paused meanwhile.
    #[default]
    Wait,
    /// Work: a pause delays its end by the length of the pause.
    Work,
    /// Each critical section is one or the other, with equal probability.
    Either,
}

impl Section {
    pub(super) fn is_wait(&self) -> bool {
        *self == Section::Wait
    }
}
