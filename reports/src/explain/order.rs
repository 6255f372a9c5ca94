//! The order of two events on which a violation depends, and the result of the opposite order.

use crate::explain::narrate;
use crate::record::history::History;
use fencepost_faults::{Node, SimTime, TimedFault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two events of the minimal run that were made to change places.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OrderedPair {
    /// The first event.
    pub first: Step,
    /// The second event.
    pub then: Step,
    /// The fault that delays the first event until after the second: one added to the minimal plan
    /// or, with an id of the plan, one of the plan's faults at a later time. It makes the swap
    /// reproducible.
    pub swap: TimedFault,
    /// `true` if the rule is still broken. Otherwise the order is necessary.
    pub violation_if_swapped: bool,
}

/// One event of the minimal run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Position in the history of the minimal run.
    pub sequence: u64,
    /// True time.
    pub time_us: SimTime,
    /// Where it happened.
    pub process: Node,
    /// The event, in words.
    pub text: String,
}

impl Step {
    /// Returns the event at an index of the history. Panics if the index is out of range.
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
