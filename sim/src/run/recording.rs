//! The records and results of a run.

use crate::hosts::programs::record::Life;
use crate::hosts::programs::watched::Watched;
use crate::world::wire_log::{Carried, Detail};
use fencepost_faults::{Node, SimTime};
use fencepost_reports::{History, Trace};

/// The results of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunOutcome {
    /// The recorded events.
    pub history: History,
    /// Duration of the run in virtual time.
    pub virtual_time: SimTime,
    /// Number of sent messages.
    pub messages: u64,
    /// Number of events in the world.
    pub events: u64,
    /// The messages, if recorded.
    pub trace: Option<Trace>,
    /// Contents of the messages, if recorded.
    pub carried: Vec<Carried>,
    /// Turns of nodes in order, if recorded.
    pub turns: Vec<(SimTime, Node)>,
    /// Times and links at which a message was held up, in order, if turns were recorded.
    pub held_up: Vec<(SimTime, (Node, Node))>,
    /// Records of user-supplied programs. Empty for other locks.
    pub programs: Vec<Life>,
    /// Records of the real servers. Empty if the servers are simulated.
    pub servers: Vec<Life>,
    /// The key by which programs are judged. `None` for other locks.
    pub watched: Option<Watched>,
    /// Number of times that a planted mistake took effect.
    pub altered: u64,
}

/// The data to record in a run. The history is the same for all variants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recording {
    /// Only the history.
    History,
    /// The history, and the transit times and ends of the messages that have content.
    Commands,
    /// The history and every message.
    Wire,
    /// The history and every message with its bytes.
    Bytes,
    /// The history, the transit times and ends of every message, and the times at which messages
    /// were held up. The fast engine also records the turns of nodes.
    Turns,
}

impl Recording {
    pub(super) fn detail(self) -> Option<Detail> {
        match self {
            Recording::History => None,
            Recording::Commands => Some(Detail::Times),
            Recording::Turns => Some(Detail::Ways),
            Recording::Wire => Some(Detail::Words),
            Recording::Bytes => Some(Detail::Bytes),
        }
    }
}
