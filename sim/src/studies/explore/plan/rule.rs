//! The pruning rules of an enumeration.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Why a plan is left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Faults that start at equivalent instants. Between two events of its node or link, a fault
    /// has the same effect wherever it starts, so only the last instant is tried. A cut also has
    /// the same effect wherever it ends between two checks of the network.
    Gap,
    /// Plans whose last fault has no effect: the paused node has no turn, the cut or slow link no
    /// message, or the client no command whose reply could be lost.
    Idle,
    /// Additions to a plan whose last delay does not change the order of messages, or gives the
    /// same order as another delay. The equivalent plan gets these additions.
    Order,
}

impl Rule {
    /// All pruning rules.
    pub const ALL: [Rule; 3] = [Rule::Gap, Rule::Idle, Rule::Order];

    /// Returns the name for `--no-prune`.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Gap => "gap",
            Rule::Idle => "idle",
            Rule::Order => "order",
        }
    }
}
