//! The unit that families draw, an [`Incident`]: faults that belong together.

use super::Drawn;
use crate::fault::Fault;
use crate::time::SimTime;

/// Faults that can only be moved in time together, such as a crash with the lag before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incident {
    /// Time of the main fault; `None` if the incident fills the window and cannot move.
    pub at: Option<SimTime>,
    /// The faults with their start times, in the order in which they were drawn.
    pub faults: Drawn,
}

impl Incident {
    pub(super) fn lone(at: SimTime, fault: Fault) -> Incident {
        Incident { at: Some(at), faults: vec![(at, fault)] }
    }
}
