//! The messages of one run, if requested.

use fencepost_faults::{Node, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The messages of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// In the order in which they were sent.
    pub messages: Vec<WireMessage>,
    /// How many more there were than were kept.
    #[serde(default)]
    pub left_out: u64,
}

/// One message on the wire.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WireMessage {
    /// Who sent it.
    pub from: Node,
    /// Whom it was for.
    pub to: Node,
    /// When it was sent, in true time.
    pub sent_us: SimTime,
    /// When it reached its host, in true time; absent if it never did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived_us: Option<SimTime>,
    /// What it says: a command or a reply in words, or `connect`, `accepted`, `refused`, `end`,
    /// `reset`.
    pub label: String,
}
