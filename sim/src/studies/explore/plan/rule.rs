use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// Reason for leaving out a plan.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, ValueEnum)]
#[derive(Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Rule {
    /// Faults at equivalent instants, such as pauses that begin between the same two events of a
    /// node, or partitions that end between the same two checks by the network.
    Gap,
    /// Plans whose last fault has no effect: the paused node would not have run, the partitioned or
    /// slow link carries no message, or the client sends no command that the fault could hit.
    Idle,
    /// Plans that extend a redundant delay, which does not change the order of messages or gives
    /// the same order as another delay. `explore` extends only one of the equivalent plans.
    Order,
}

impl Rule {
    pub const ALL: [Rule; 3] = [Rule::Gap, Rule::Idle, Rule::Order];

    pub fn name(self) -> &'static str {
        self.into()
    }
}
