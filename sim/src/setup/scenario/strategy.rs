//! Where in a run the faults of a plan strike.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where in a run the faults of a plan strike.
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
}

impl Strategy {
    /// As `--strategy` names it.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Uniform => "uniform",
            Strategy::Aimed => "aimed",
        }
    }

    /// Whether it need not be written down.
    pub(super) fn is_uniform(&self) -> bool {
        *self == Strategy::Uniform
    }
}
