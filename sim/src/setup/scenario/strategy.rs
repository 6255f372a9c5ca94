use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// Strategy that decides when faults begin in a run and how latencies order the messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[derive(Serialize, Deserialize, JsonSchema, ValueEnum, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Strategy {
    /// Each fault family draws the times of its faults, mostly uniformly.
    Uniform,
    /// About half of the faults with a movable start begin at a command of a process, or in a phase
    /// of its protocol. The others begin at times that their families draw.
    #[default]
    Aimed,
    /// Each fault family draws the times of its faults. The priority of a message's link, not a
    /// random draw, decides the message's latency. Priorities change at a few points in the run.
    Pct,
}

impl Strategy {
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub(super) fn unsaid() -> Strategy {
        Strategy::Uniform
    }

    pub(super) fn is_unsaid(&self) -> bool {
        *self == Strategy::unsaid()
    }
}
