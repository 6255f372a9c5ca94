//! Where in a run the faults of a plan strike, and which messages go first.

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
    #[default]
    Uniform,
    /// Half of them there, half at commands and phases of the protocol, each as likely.
    Aimed,
    /// Where their families draw them; but instead of drawing each message's latency, give every
    /// link a priority, which decides how long its messages take, and change it at a few points.
    Pct,
}

impl Strategy {
    /// As `--strategy` names it.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Uniform => "uniform",
            Strategy::Aimed => "aimed",
            Strategy::Pct => "pct",
        }
    }

    /// Whether it need not be written down.
    pub(super) fn is_uniform(&self) -> bool {
        *self == Strategy::Uniform
    }
}
