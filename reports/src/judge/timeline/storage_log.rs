use super::{Moment, moments};
use crate::record::history::{Access, History, What};
use fencepost_faults::Node;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StorageRequest {
    pub moment: Moment,
    pub operation: u64,
    pub process: Node,
    /// Index in the timeline's acquisitions.
    pub acquisition: Option<usize>,
    pub access: Access,
    pub token: Option<u64>,
    pub accepted: bool,
    pub before: i64,
    pub after: i64,
    /// Value that the writer had read; `None` for reads.
    pub based_on: Option<i64>,
}

impl StorageRequest {
    pub fn is_accepted_write(&self) -> bool {
        self.accepted && self.access == Access::Write
    }
}

pub(super) fn all(history: &History, by_operation: &BTreeMap<u64, usize>) -> Vec<StorageRequest> {
    let mut seen = BTreeSet::new();
    let mut log = Vec::new();
    for (moment, event) in moments(history) {
        let What::Storage {
            operation,
            by,
            access,
            token,
            acquisition,
            accepted,
            before,
            after,
            based_on,
        } = event.what
        else {
            continue;
        };
        if seen.insert((by, operation)) {
            let acquisition = by_operation.get(&acquisition).copied();
            let (process, moment) = (by, moment);
            log.push(StorageRequest {
                moment,
                operation,
                process,
                acquisition,
                access,
                token,
                accepted,
                before,
                after,
                based_on,
            });
        }
    }
    log
}
