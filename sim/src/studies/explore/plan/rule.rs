use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Why a plan is left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Faults that start at equivalent instants. A fault has the same effect at every instant
    /// between two events of its node or link, so only the last instant is tried. Likewise, a
    /// partition has the same effect wherever it ends between two checks by the network.
    Gap,
    /// Plans whose last fault has no effect: the paused node would not have run, the partitioned or
    /// slow link carries no message, or the client sends no command whose reply could be lost.
    Idle,
    /// Extensions of a plan whose last delay does not change the order of messages, or leads to the
    /// same order as another delay. Only the equivalent plan is extended.
    Order,
}

impl Rule {
    pub const ALL: [Rule; 3] = [Rule::Gap, Rule::Idle, Rule::Order];

    pub fn name(self) -> &'static str {
        match self {
            Rule::Gap => "gap",
            Rule::Idle => "idle",
            Rule::Order => "order",
        }
    }
}
