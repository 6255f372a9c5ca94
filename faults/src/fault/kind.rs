use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// Kind of a fault, without its target, start and magnitude.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum FaultKind {
    /// A node is paused, but its clocks continue.
    Pause,
    /// A node and its monotonic clock are suspended.
    Suspend,
    /// A process crashes, but its machine keeps running.
    Crash,
    /// A machine loses power.
    PowerLoss,
    /// No message passes between two groups of nodes.
    Partition,
    /// Messages between nodes are delayed.
    Delay,
    /// A server executes a command, but its reply is lost.
    LostReply,
    /// A node's clocks run fast or slow.
    ClockDrift,
    /// A node's wall clock is stepped.
    ClockJump,
    /// Each command takes longer on a server.
    SlowServer,
    /// A server evicts keys, as under memory pressure.
    Evict,
    /// An operator deletes all keys of a server.
    FlushAll,
    /// An operator promotes a replica or standby to primary.
    Promote,
    /// An operator runs an administrative command on a server.
    Operator,
    /// A command is lost before the server reads it.
    LostRequest,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Impact {
    Freezes,
    Kills,
    HoldsUpMessages,
    LosesReply,
    LosesRequest,
    BendsClock,
    Slows,
    LosesKeys,
    TakesOver,
    /// The effect depends on the operator's command.
    IsOperated,
}

impl FaultKind {
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn impact(self) -> Impact {
        match self {
            FaultKind::Pause | FaultKind::Suspend => Impact::Freezes,
            FaultKind::Crash | FaultKind::PowerLoss => Impact::Kills,
            FaultKind::Partition | FaultKind::Delay => Impact::HoldsUpMessages,
            FaultKind::LostReply => Impact::LosesReply,
            FaultKind::LostRequest => Impact::LosesRequest,
            FaultKind::ClockDrift | FaultKind::ClockJump => Impact::BendsClock,
            FaultKind::SlowServer => Impact::Slows,
            FaultKind::Evict | FaultKind::FlushAll => Impact::LosesKeys,
            FaultKind::Promote => Impact::TakesOver,
            FaultKind::Operator => Impact::IsOperated,
        }
    }

    pub fn is_instant(self) -> bool {
        match self {
            FaultKind::ClockJump
            | FaultKind::Evict
            | FaultKind::FlushAll
            | FaultKind::Promote
            | FaultKind::Operator => true,
            FaultKind::Pause
            | FaultKind::Suspend
            | FaultKind::Crash
            | FaultKind::PowerLoss
            | FaultKind::Partition
            | FaultKind::Delay
            | FaultKind::LostReply
            | FaultKind::LostRequest
            | FaultKind::ClockDrift
            | FaultKind::SlowServer => false,
        }
    }
}
