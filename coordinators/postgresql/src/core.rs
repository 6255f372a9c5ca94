//! What all sessions share.

use crate::error::{Outcome, SqlError};
use crate::sql::ast::Named;
use crate::store::heap::Heap;
use crate::store::locks::Locks;
use crate::store::table::Definition;
use crate::store::transaction::Transactions;
use crate::store::{Backend, Xid};
use fencepost_machine::{ConnectionId, Now, Output};

/// The data, the locks and the clocks of a server.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) now: Now,
    pub(crate) heap: Heap,
    pub(crate) locks: Locks,
    pub(crate) transactions: Transactions,
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
}

/// What one session can do to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Signal {
    Cancel,
    Terminate,
}

impl Core {
    /// A table by its name, as a transaction sees it. Errors: 42P01.
    pub(crate) fn table(&self, named: &Named, own: Option<Xid>) -> Outcome<&Definition> {
        self.heap.named(&named.name, own).ok_or_else(|| {
            let message = format!("relation \"{}\" does not exist", named.name);
            SqlError::new("42P01", message).at(named.position)
        })
    }
}
