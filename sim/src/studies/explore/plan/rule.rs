//! The pruning rules.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Why a plan is left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A pause, a cut, a step of a clock, a lost reply or a late message is the same wherever it
    /// begins between two events of what it hits: it is placed just before the later one only. A
    /// cut is also the same wherever it ends between two looks of the network at it, but for when
    /// the probe begins.
    Gap,
    /// A fault that meets nothing changes nothing but when the probe begins: no turn of the paused
    /// node, no message on the link that is cut or slow, no command of the client whose reply is to
    /// be lost.
    Idle,
    /// Nothing is added to a plan whose last delay makes the order of messages that the plan
    /// without it has, or one with another delay in its place: what would be added is added there.
    Order,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 3] = [Rule::Gap, Rule::Idle, Rule::Order];

    /// Its name for `--no-prune`.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Gap => "gap",
            Rule::Idle => "idle",
            Rule::Order => "order",
        }
    }
}
