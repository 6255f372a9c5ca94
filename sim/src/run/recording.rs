//! The records and results of a run.

use crate::hosts::programs::record::Life;
use crate::hosts::programs::watched::Watched;
use crate::world::wire_log::{Carried, Detail};
use fencepost_faults::{Node, SimTime};
use fencepost_reports::{History, Trace};

/// The results of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunOutcome {
    /// The events.
    pub history: History,
    /// Its duration in virtual time.
    pub virtual_time: SimTime,
    /// The number of sent messages.
    pub messages: u64,
    /// The number of events in the world.
    pub events: u64,
    /// The messages, if recorded.
    pub trace: Option<Trace>,
    /// The content of these messages, if recorded.
    pub carried: Vec<Carried>,
    /// The turns of nodes, in order, if recorded.
    pub turns: Vec<(SimTime, Node)>,
    /// The times and links at which a message was held up or retried, in order, if turns were
    /// recorded.
    pub held_up: Vec<(SimTime, (Node, Node))>,
    /// The lives of the user's programs, if the lock is in one.
    pub programs: Vec<Life>,
    /// The lives of real servers, if there are such.
    pub servers: Vec<Life>,
    /// The key by which these are judged.
    pub watched: Option<Watched>,
    /// How often a planted mistake was made.
    pub altered: u64,
}

/// The records of a run. The history is the same for all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recording {
    /// The history.
    History,
    /// The history, and the transit times and ends of messages with content.
    Commands,
    /// The history, and every message.
    Wire,
    /// The history, and every message with its bytes.
    Bytes,
    /// The history, the transit times and ends of every message, and the times at which one was
    /// held up. The fast engine also records the turns of nodes.
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
