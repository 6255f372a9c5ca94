use fencepost_faults::{Node, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Messages that were sent over the network in a run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// Messages in the order in which they were sent, at most the first 100,000.
    pub messages: Vec<WireMessage>,
    /// Number of later messages that `messages` does not contain.
    #[serde(default)]
    pub left_out: u64,
}

/// A message that was sent over the network.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WireMessage {
    /// Sender: a process or one of its threads, a server, a Sentinel or the storage.
    pub from: Node,
    /// Receiver: a process or one of its threads, a server, a Sentinel or the storage.
    pub to: Node,
    /// Virtual time in microseconds at which the message was sent.
    pub sent_us: SimTime,
    /// Virtual time in microseconds at which the message arrived at its host; absent if it never
    /// arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived_us: Option<SimTime>,
    /// Content of the message: a command or a reply in words, or `connect`, `accepted`, `refused`,
    /// `end` or `reset`.
    pub label: String,
}
