//! The storage's answers.

use super::{Moment, moments};
use crate::record::history::{Access, History, What};
use fencepost_faults::Node;
use std::collections::{BTreeMap, BTreeSet};

/// An answered request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StorageRequest {
    /// The time of the answer.
    pub moment: Moment,
    /// The operation of the process.
    pub operation: u64,
    /// The thread that asked.
    pub process: Node,
    /// Its acquisition, as an index into the timeline's acquisitions.
    pub acquisition: Option<usize>,
    /// Read or write.
    pub access: Access,
    /// Its token.
    pub token: Option<u64>,
    /// `false` if the token was rejected.
    pub accepted: bool,
    /// The value before it.
    pub before: i64,
    /// The value after it.
    pub after: i64,
    /// For a write: the value that the writer had read.
    pub based_on: Option<i64>,
}

impl StorageRequest {
    /// Returns whether the request changed the guarded value.
    pub fn is_accepted_write(&self) -> bool {
        self.accepted && self.access == Access::Write
    }
}

/// In order of the answers. A repeated request changes nothing, so only the first counts.
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
