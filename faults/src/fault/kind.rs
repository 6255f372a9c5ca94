//! The kinds of faults and their properties.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// The kind of a fault, without place, time and magnitude.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Debug,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum FaultKind {
    /// A node is paused; its clocks continue.
    Pause,
    /// A node and its monotonic clock are suspended.
    Suspend,
    /// A process crashes; the kernel keeps running.
    Crash,
    /// A machine loses power.
    PowerLoss,
    /// No message passes between two sides.
    Partition,
    /// Messages are delayed.
    Delay,
    /// A command is executed, but its reply is lost.
    LostReply,
    /// Clocks run at a wrong rate.
    ClockDrift,
    /// A wall clock is stepped.
    ClockJump,
    /// Commands take longer.
    SlowServer,
    /// A server evicts all keys that may be evicted.
    Evict,
    /// An operator flushes a server.
    FlushAll,
    /// An operator promotes a replica to primary.
    Promote,
    /// An operator runs a command that no lock expects.
    Operator,
    /// A command is lost before the server reads it.
    LostRequest,
}

/// Effect of a fault on the nodes that it names. Rules for several kinds match on this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Impact {
    /// Pauses them.
    Freezes,
    /// Crashes them, or makes them unreachable.
    Kills,
    /// Stops or delays messages between them.
    HoldsUpMessages,
    /// Loses a reply between them.
    LosesReply,
    /// Loses a command between them.
    LosesRequest,
    /// Sets their clocks wrong.
    BendsClock,
    /// Slows them down.
    Slows,
    /// Loses their keys.
    LosesKeys,
    /// Makes them the primary.
    TakesOver,
    /// The effect depends on the operator's command.
    IsOperated,
}

impl FaultKind {
    /// The name, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Its effect on the nodes that it names.
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

    /// Returns whether a fault of this kind is instantaneous and leaves nothing to heal.
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
