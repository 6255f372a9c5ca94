//! The requests that the storage answered.

use super::{Moment, moments};
use crate::record::history::{Access, History, What};
use fencepost_faults::Node;
use std::collections::{BTreeMap, BTreeSet};

/// A request that the storage answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StorageRequest {
    /// The time of the answer.
    pub moment: Moment,
    /// Number of the operation to which the request belongs.
    pub operation: u64,
    /// The thread that sent the request.
    pub process: Node,
    /// The thread's acquisition, as an index into the timeline's acquisitions.
    pub acquisition: Option<usize>,
    /// The kind of the request: read or write.
    pub access: Access,
    /// The fencing token in the request, if any.
    pub token: Option<u64>,
    /// `false` if the storage rejected the token.
    pub accepted: bool,
    /// The guarded value before the request.
    pub before: i64,
    /// The guarded value after the request.
    pub after: i64,
    /// The value that the writer had read before; `None` for reads.
    pub based_on: Option<i64>,
}

impl StorageRequest {
    /// Returns whether the request changed the guarded value.
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
