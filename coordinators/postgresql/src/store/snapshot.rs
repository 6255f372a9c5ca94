//! What a statement sees.

use super::Xid;
use std::collections::BTreeSet;

/// What a statement sees: all that was committed when the snapshot was taken, and what its own
/// transaction did in earlier statements.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) next: Xid,
    pub(crate) running: BTreeSet<Xid>,
    pub(crate) own: Option<Xid>,
    /// Which statement of its transaction it is.
    pub(crate) command: u32,
}

impl Snapshot {
    /// Whether what this transaction did in that statement is seen.
    pub(crate) fn sees(&self, xid: Xid, command: u32) -> bool {
        if self.own == Some(xid) {
            return command < self.command;
        }
        self.includes(xid)
    }

    /// Whether a transaction was committed when the snapshot was taken.
    pub(crate) fn includes(&self, xid: Xid) -> bool {
        xid < self.next && !self.running.contains(&xid)
    }

    /// The oldest transaction that was running then.
    pub(crate) fn xmin(&self) -> Xid {
        self.running.first().copied().unwrap_or(self.next)
    }
}
