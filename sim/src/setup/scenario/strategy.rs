//! Strategies for the timing of faults, and for the order of messages.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When faults begin in a run, and the order of messages.
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema, ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Faults begin where their families draw them, mostly uniformly in time.
    Uniform,
    /// Half of the faults begin there, half at commands and phases of the protocol, each equally
    /// likely.
    #[default]
    Aimed,
    /// Faults begin where their families draw them. Latencies are not drawn for each message: every
    /// link has a priority that decides its latency and that changes at a few points.
    Pct,
}

impl Strategy {
    /// Returns the value for `--strategy`.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Uniform => "uniform",
            Strategy::Aimed => "aimed",
            Strategy::Pct => "pct",
        }
    }

    /// Returns the strategy of reports without this key, which used uniform faults. Reports of
    /// uniform runs still omit the key.
    pub(super) fn unsaid() -> Strategy {
        Strategy::Uniform
    }

    pub(super) fn is_unsaid(&self) -> bool {
        *self == Strategy::unsaid()
    }
}
