use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// Lock calls that an application abandons.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[derive(Serialize, Deserialize, JsonSchema, ValueEnum, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Calls {
    /// The application waits for the result of every call.
    #[default]
    None,
    /// The application abandons pending acquires.
    Acquire,
    /// The application abandons releases.
    Release,
    /// The application abandons both acquires and releases.
    Both,
}

impl Calls {
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    pub(crate) fn have_acquires(self) -> bool {
        matches!(self, Calls::Acquire | Calls::Both)
    }

    pub(crate) fn have_releases(self) -> bool {
        matches!(self, Calls::Release | Calls::Both)
    }
}
