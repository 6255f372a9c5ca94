//! What a family draws at one go.

use super::Drawn;
use crate::fault::Fault;
use crate::time::SimTime;

/// Faults that belong together: all victims of one strike, a crash with the lag before it, a lone
/// pause. Whoever moves one of them in time moves all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incident {
    /// The instant at which it strikes; what prepares the strike, such as a lag, begins before.
    /// `None` if it fills the whole window, so that there is nowhere to move it.
    pub at: Option<SimTime>,
    /// The faults and when they begin, in the order in which they were drawn.
    pub faults: Drawn,
}

impl Incident {
    /// One fault.
    pub(super) fn lone(at: SimTime, fault: Fault) -> Incident {
        Incident { at: Some(at), faults: vec![(at, fault)] }
    }
}
