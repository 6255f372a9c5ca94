use fencepost_faults::{Micros, SimTime};
use fencepost_machine::SyncError;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FailingSyncs {
    pub(crate) from: SimTime,
    pub(crate) until: SimTime,
    pub(crate) error: SyncError,
}

impl FailingSyncs {
    pub(crate) fn later(self, by: Micros) -> FailingSyncs {
        FailingSyncs { from: self.from + by, until: self.until + by, ..self }
    }
}
