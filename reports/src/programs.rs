//! What a user's program printed and how it ended, beside what was judged.

use fencepost_faults::{Node, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One life of a program: from a start of its host to a crash, its own end, or the end of the run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProgramReport {
    /// The process.
    pub process: Node,
    /// When it started.
    pub started_us: SimTime,
    /// When it ended by itself, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_us: Option<SimTime>,
    /// How it ended, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// Whether it ended otherwise than a worker should.
    pub failed: bool,
    /// What it printed, line by line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<Printed>,
    /// How many bytes it printed beyond what is kept.
    #[serde(default)]
    pub output_dropped: u64,
    /// How often a thread had to be interrupted because it used the processor for long while others
    /// waited; such a run may not be reproducible.
    #[serde(default)]
    pub preempted: u32,
}

/// A line that a program printed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Printed {
    /// When.
    pub time_us: SimTime,
    /// Whether on standard error.
    pub is_error: bool,
    /// What.
    pub text: String,
}
