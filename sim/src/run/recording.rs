use crate::hosts::programs::record::Life;
use crate::hosts::programs::watched::Watched;
use crate::world::wire_log::{Carried, Detail};
use fencepost_faults::{Node, SimTime};
use fencepost_reports::{History, Trace};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunOutcome {
    pub history: History,
    pub virtual_time: SimTime,
    pub messages: u64,
    pub events: u64,
    pub trace: Option<Trace>,
    pub carried: Vec<Carried>,
    pub turns: Vec<(SimTime, Node)>,
    /// Times at which messages were delayed or sent again, with sender and receiver.
    pub held_up: Vec<(SimTime, (Node, Node))>,
    pub programs: Vec<Life>,
    pub servers: Vec<Life>,
    /// `None` unless the lock is a user's program.
    pub watched: Option<Watched>,
    /// Number of times that a planted mistake took effect.
    pub altered: u64,
}

/// Data to record in a run. The history is the same for all variants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recording {
    History,
    /// The history, and for each data message its sender, its receiver and its transit time.
    Commands,
    Wire,
    Bytes,
    /// The history, and each message's sender, receiver, transit time, delays and resends. The fast
    /// engine also records the turns of nodes.
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
