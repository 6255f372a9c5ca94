//! The incidents that families draw.

use super::Drawn;
use crate::fault::Fault;
use crate::time::SimTime;

/// Faults that move in time only together, such as a crash with the lag before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incident {
    /// Instant of the strike, after preparations. `None` if it fills the window: it cannot move.
    pub at: Option<SimTime>,
    /// Faults with start times, in the order drawn.
    pub faults: Drawn,
}

impl Incident {
    pub(super) fn lone(at: SimTime, fault: Fault) -> Incident {
        Incident { at: Some(at), faults: vec![(at, fault)] }
    }
}
