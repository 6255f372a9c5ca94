//! What all sessions share.

use crate::error::{Outcome, SqlError};
use crate::sql::ast::Named;
use crate::store::heap::Heap;
use crate::store::locks::Locks;
use crate::store::serializable::Serializable;
use crate::store::table::Definition;
use crate::store::transactions::Transactions;
use crate::store::{Backend, Xid};
use crate::stream::Log;
use bytes::Bytes;
use fencepost_machine::{ConnectionId, Now, Output};

/// The data, the locks and the clocks of a server.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) now: Now,
    pub(crate) heap: Heap,
    pub(crate) locks: Locks,
    pub(crate) transactions: Transactions,
    pub(crate) serializable: Serializable,
    /// What sessions did to each other.
    pub(crate) signals: Vec<(Backend, Signal)>,
    /// What somebody asked for who knows the secret of a session.
    pub(crate) cancels: Vec<(Backend, u32, Signal)>,
    /// The backends that there are, in the order in which they came.
    pub(crate) backends: Vec<Backend>,
    /// What the server wants done besides replies: the disk and the judge.
    pub(crate) wants: Vec<Output>,
    /// Whose transaction changed data and was committed last.
    pub(crate) committed_last: Option<ConnectionId>,
    /// How many clients may be connected.
    pub(crate) clients_max: usize,
    /// Whether a commit waits until the disk has it.
    pub(crate) syncs: bool,
    /// How many syncs have been asked for and are done.
    pub(crate) asked_syncs: u64,
    pub(crate) done_syncs: u64,
    /// The log, where others may ask for it.
    pub(crate) log: Log,
    /// Whether a commit waits until a standby has it.
    pub(crate) is_synchronous: bool,
    /// Up to where a standby has the log on its disk.
    pub(crate) confirmed: u64,
    /// Whether the server follows another: nothing can be written.
    pub(crate) is_in_recovery: bool,
    /// Whether somebody asked for its promotion.
    pub(crate) is_to_be_promoted: bool,
}

/// What one session can do to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Signal {
    Cancel,
    Terminate,
}

impl Core {
    /// Appends to the log. The sync after which it is safe; `None` if nobody waits for the disk.
    pub(crate) fn write(&mut self, bytes: Bytes) -> Option<u64> {
        self.log.append(&bytes);
        self.wants.push(Output::DiskAppend { bytes });
        if !self.syncs {
            self.log.trust();
            return None;
        }
        self.wants.push(Output::DiskSync);
        self.log.sync();
        self.asked_syncs += 1;
        Some(self.asked_syncs)
    }

    /// A sync is done.
    pub(crate) fn synced(&mut self) {
        self.done_syncs += 1;
        self.log.synced();
    }

    /// A table by its name, as a transaction sees it. Errors: 42P01.
    pub(crate) fn table(&self, named: &Named, own: Option<Xid>) -> Outcome<&Definition> {
        self.heap.named(&named.name, own).ok_or_else(|| {
            let message = format!("relation \"{}\" does not exist", named.name);
            SqlError::new("42P01", message).at(named.position)
        })
    }
}
