//! An incident: the unit that families draw, made of faults that belong together.

use super::Drawn;
use crate::fault::Fault;
use crate::time::SimTime;

/// Faults that only move together in time, such as a crash with the lag before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incident {
    /// Start of the main fault; `None` if the incident fills the window and cannot move.
    pub at: Option<SimTime>,
    /// The faults with their start times, in the order of the draws.
    pub faults: Drawn,
}

impl Incident {
    pub(super) fn lone(at: SimTime, fault: Fault) -> Incident {
        Incident { at: Some(at), faults: vec![(at, fault)] }
    }
}
