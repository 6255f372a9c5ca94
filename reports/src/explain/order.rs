//! Pairs of events whose order a violation may depend on, and the effect of swapping them.

use crate::explain::narrate;
use crate::record::history::History;
use fencepost_faults::{Node, SimTime, TimedFault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A pair of events in the minimal run whose order was swapped.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OrderedPair {
    /// Event that happens first in the minimal run.
    pub first: Step,
    /// Event that happens later in the minimal run.
    pub then: Step,
    /// Fault that swaps the events. To reproduce the swap, add this fault to the minimal plan, or
    /// replace the plan's fault that has the same id.
    pub swap: TimedFault,
    /// `true` if the run still breaks the rule with the events swapped.
    pub violation_if_swapped: bool,
}

/// An event of the minimal run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Position of the event in the history of the minimal run, counted from 0.
    pub sequence: u64,
    /// Virtual time of the event in microseconds.
    pub time_us: SimTime,
    /// Node of the event: a process or one of its threads, a server, a Sentinel, or the storage.
    pub process: Node,
    /// Description of the event, in words.
    pub text: String,
}

impl Step {
    /// Describes the event at an index of the history. Panics if the index is out of range.
    pub fn of(history: &History, index: usize) -> Step {
        let event = &history.events[index];
        let (sequence, time_us, process) = (event.sequence, event.time_us, event.node);
        Step { sequence, time_us, process, text: narrate::text(history, event) }
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let begins_with_fault = self.text.starts_with("fault ");
        if begins_with_fault {
            f.write_str(&self.text)
        } else {
            write!(f, "{} {}", self.process, self.text)
        }
    }
}
