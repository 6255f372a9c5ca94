//! What a run writes down and leaves behind.

use crate::hosts::programs::record::Life;
use crate::hosts::programs::watched::Watched;
use crate::world::wire_log::Detail;
use fencepost_faults::{Node, SimTime};
use fencepost_reports::{History, Trace};

/// What a run leaves behind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunOutcome {
    /// What happened.
    pub history: History,
    /// How long it took in virtual time.
    pub virtual_time: SimTime,
    /// How many messages were sent.
    pub messages: u64,
    /// How many events the world handled.
    pub events: u64,
    /// The messages on the wire, if they were recorded.
    pub trace: Option<Trace>,
    /// When which node had a turn, in order, if that was recorded.
    pub turns: Vec<(SimTime, Node)>,
    /// When a message was held up, or one that had been was tried again, and from whom to whom, in
    /// order, if turns were recorded.
    pub held_up: Vec<(SimTime, (Node, Node))>,
    /// The lives of the user's own programs, if the lock is in such.
    pub programs: Vec<Life>,
    /// The key by which these are judged.
    pub watched: Option<Watched>,
    /// How often a planted mistake was made, if one is planted.
    pub altered: u64,
}

/// What a run writes down. The history is the same either way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recording {
    /// The history.
    History,
    /// The history, and when messages with content were under way between whom.
    Commands,
    /// The history, and every message on the wire.
    Wire,
    /// The history, when every message was under way between whom, and when it was held up. The fast
    /// engine also tells when which node had a turn.
    Turns,
}

impl Recording {
    pub(super) fn detail(self) -> Option<Detail> {
        match self {
            Recording::History => None,
            Recording::Commands => Some(Detail::Times),
            Recording::Turns => Some(Detail::Ways),
            Recording::Wire => Some(Detail::Words),
        }
    }
}
