use crate::judge::finding::Finding;
use fencepost_faults::{Micros, SimTime};

#[derive(Clone, Copy, Debug)]
pub(super) struct Period {
    pub(super) from: SimTime,
    pub(super) until: SimTime,
}

impl Period {
    pub(super) fn of_finding(finding: &Finding) -> Period {
        Period { from: finding.at, until: finding.at + finding.duration }
    }

    pub(super) fn is_mostly(self, span: Micros) -> bool {
        span.0 * 2 > self.until.since(self.from).0
    }
}
