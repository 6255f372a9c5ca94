use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of critical section, which decides how a pause of the process delays its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[derive(Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Section {
    /// The process waits in the critical section, for example for another system. A pause of the
    /// process delays the end only if the pause outlasts the wait.
    #[default]
    Wait,
    /// The process works in the critical section. A pause of the process delays the end by the
    /// length of the pause.
    Work,
    /// In each critical section, the process either waits or works, with equal probability.
    Either,
}
