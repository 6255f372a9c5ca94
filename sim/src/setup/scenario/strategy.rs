//! Strategies for the timing of faults, and for the order of messages.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where in a run the faults of a plan strike, and which messages go first.
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema, ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Where their families draw them, mostly uniformly in time.
    Uniform,
    /// Half of them there, half at commands and phases of the protocol, each as likely.
    #[default]
    Aimed,
    /// Where their families draw them; but instead of drawing each message's latency, give every
    /// link a priority, which decides how long its messages take, and change it at a few points.
    Pct,
}

impl Strategy {
    /// Its value for `--strategy`.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Uniform => "uniform",
            Strategy::Aimed => "aimed",
            Strategy::Pct => "pct",
        }
    }

    /// The strategy of a report that names none: older reports used uniform faults, and uniform
    /// runs still omit it.
    pub(super) fn unsaid() -> Strategy {
        Strategy::Uniform
    }

    /// Lets serde skip the default.
    pub(super) fn is_unsaid(&self) -> bool {
        *self == Strategy::unsaid()
    }
}
