use super::Drawn;
use crate::fault::Fault;
use crate::time::SimTime;

/// Faults that must move together, such as a crash and the replication lag before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incident {
    /// Start of the main fault; `None` if the incident cannot move.
    pub at: Option<SimTime>,
    pub faults: Drawn,
}

impl Incident {
    pub(super) fn lone(at: SimTime, fault: Fault) -> Incident {
        Incident { at: Some(at), faults: vec![(at, fault)] }
    }
}
