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

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) now: Now,
    pub(crate) heap: Heap,
    pub(crate) locks: Locks,
    pub(crate) transactions: Transactions,
    pub(crate) serializable: Serializable,
    pub(crate) signals: Vec<(Backend, Signal)>,
    pub(crate) cancels: Vec<(Backend, u32, Signal)>,
    pub(crate) backends: Vec<Backend>,
    pub(crate) wants: Vec<Output>,
    pub(crate) committed_last: Option<ConnectionId>,
    pub(crate) clients_max: usize,
    pub(crate) syncs: bool,
    pub(crate) asked_syncs: u64,
    pub(crate) done_syncs: u64,
    pub(crate) log: Log,
    pub(crate) is_synchronous: bool,
    pub(crate) confirmed: u64,
    pub(crate) is_in_recovery: bool,
    pub(crate) is_to_be_promoted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Signal {
    Cancel,
    Terminate,
}

impl Core {
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

    pub(crate) fn synced(&mut self) {
        self.done_syncs += 1;
        self.log.synced();
    }

    pub(crate) fn table(&self, named: &Named, own: Option<Xid>) -> Outcome<&Definition> {
        self.heap.named(&named.name, own).ok_or_else(|| {
            if named.name.starts_with("pg_") {
                let what = format!("the relation \"{}\"", named.name);
                return SqlError::unsupported(what).at(named.position);
            }
            let message = format!("relation \"{}\" does not exist", named.name);
            SqlError::new("42P01", message).at(named.position)
        })
    }
}
