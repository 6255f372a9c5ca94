//! The kinds of critical sections.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a critical section is made of: whether a process that stands still meanwhile is late.
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema, ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Section {
    /// Waiting, say for somebody else's answer: it is over when its time has passed, though the
    /// process stood still meanwhile.
    #[default]
    Wait,
    /// Work: however long the process stands still, so much later it is done.
    Work,
    /// Each section is one or the other, as likely.
    Either,
}

impl Section {
    /// Lets serde skip the default.
    pub(super) fn is_wait(&self) -> bool {
        *self == Section::Wait
    }
}
