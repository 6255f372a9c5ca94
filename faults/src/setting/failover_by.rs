use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// Event that makes another server replace the primary.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[derive(Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum FailoverBy {
    /// One of the other events is drawn for each failover.
    #[default]
    Drawn,
    /// The primary crashes or loses power.
    Crash,
    /// The primary is isolated together with one client.
    Isolation,
    /// The primary is paused for longer than a takeover by Sentinel usually takes.
    Pause,
}

impl FailoverBy {
    pub fn name(self) -> &'static str {
        self.into()
    }

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
