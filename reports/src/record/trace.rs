//! The [`Trace`] of all messages in a run, which is recorded on request.

use fencepost_faults::{Node, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The messages of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// In the order in which they were sent.
    pub messages: Vec<WireMessage>,
    /// Number of further ones that were not kept.
    #[serde(default)]
    pub left_out: u64,
}

/// One message on the wire.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WireMessage {
    /// The sender.
    pub from: Node,
    /// The receiver.
    pub to: Node,
    /// The time of sending, in true time.
    pub sent_us: SimTime,
    /// The time of arrival at its host, in true time; absent if it never arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived_us: Option<SimTime>,
    /// Its content: a command or a reply in words, or `connect`, `accepted`, `refused`, `end`,
    /// `reset`.
    pub label: String,
}
