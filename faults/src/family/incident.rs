//! The incidents that families draw.

use super::Drawn;
use crate::fault::Fault;
use crate::time::SimTime;

/// Faults that belong together: all victims of one strike, a crash with the lag before it, a single
/// pause. They move in time only together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incident {
    /// The instant at which it strikes; preparations, such as a lag, begin earlier. `None` if it
    /// fills the whole window and cannot be moved.
    pub at: Option<SimTime>,
    /// The faults and their start times, in the order in which they were drawn.
    pub faults: Drawn,
}

impl Incident {
    pub(super) fn lone(at: SimTime, fault: Fault) -> Incident {
        Incident { at: Some(at), faults: vec![(at, fault)] }
    }
}
