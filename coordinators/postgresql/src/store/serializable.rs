//! Serializable snapshot isolation.
//!
//! A write checks for earlier readers, and a read for writers whose changes it does not see. In any
//! serial order, the reader must precede the writer (a read-write conflict). Two consecutive
//! conflicts may be part of a cycle if the last writer committed first; the server then cancels one
//! of the three transactions, immediately or at its next read, write or commit. The reads of a
//! committed transaction stay recorded until every concurrent transaction has ended.
//!
//! Sources: src/backend/storage/lmgr/README-SSI and predicate.c of PostgreSQL 15; Ports and
//! Grittner, Serializable Snapshot Isolation in PostgreSQL, VLDB 2012. Not modelled: summaries of
//! old transactions, and locks on several pages, because lock tables have one page.

mod conflicts;
mod ending;
mod sireads;

pub(crate) use sireads::Target;

use super::Xid;
use super::snapshot::Snapshot;
use crate::error::SqlError;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Tracked(u64);

type Moment = u64;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    DuringRead,
    DuringWrite,
    DuringCommit,
    Write,
    Read(Option<Xid>),
    Commit,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    xid: Option<Xid>,
    xmin: u64,
    began: Moment,
    prepared: Option<Moment>,
    committed: Option<Moment>,
    /// Earliest commit among the writers that this transaction did not see and that committed
    /// before it (`earliestOutConflictCommit`).
    earliest_out: Option<Moment>,
    finished_before: u64,
    /// `true` if the transaction has committed without a write.
    is_read_only: bool,
    /// `true` if the transaction must roll back. Others then ignore their conflicts with it.
    is_doomed: bool,
    has_written: bool,
    outs: Vec<Tracked>,
    ins: Vec<Tracked>,
    sireads: BTreeSet<Target>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Serializable {
    all: BTreeMap<Tracked, Entry>,
    next: u64,
    by_xid: BTreeMap<Xid, Tracked>,
    readers: BTreeMap<Target, Vec<Tracked>>,
    finished: VecDeque<Tracked>,
    last: Moment,
    /// Oldest `xmin` of the running tracked transactions, and the number of transactions with it.
    global_xmin: Option<(u64, usize)>,
}

impl Serializable {
    pub(crate) fn begin(&mut self, snapshot: &Snapshot, own: Option<Xid>) -> Tracked {
        let id = Tracked(self.next);
        self.next += 1;
        let (xmin, began) = (snapshot.xmin().0, self.last);
        match &mut self.global_xmin {
            None => self.global_xmin = Some((xmin, 1)),
            Some((oldest, count)) if *oldest == xmin => *count += 1,
            Some(_) => {}
        }
        let entry = Entry { xmin, began, ..Entry::default() };
        self.all.insert(id, entry);
        own.into_iter().for_each(|xid| self.register(id, xid));
        id
    }

    pub(crate) fn register(&mut self, id: Tracked, xid: Xid) {
        if let Some(entry) = self.all.get_mut(&id) {
            entry.xid = Some(xid);
            self.by_xid.insert(xid, id);
        }
    }

    pub(crate) fn check_doomed(&self, id: Tracked, reason: Reason) -> Result<(), Reason> {
        match self.get(id) {
            Some(entry) if entry.is_doomed => Err(reason),
            _ => Ok(()),
        }
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty() && self.readers.is_empty() && self.by_xid.is_empty()
    }

    fn get(&self, id: Tracked) -> Option<&Entry> {
        self.all.get(&id)
    }
}

impl From<Reason> for SqlError {
    fn from(reason: Reason) -> SqlError {
        let detail = match reason {
            Reason::DuringRead => {
                "Canceled on identification as a pivot, during conflict out checking.".to_owned()
            }
            Reason::DuringWrite => {
                "Canceled on identification as a pivot, during conflict in checking.".to_owned()
            }
            Reason::DuringCommit => {
                "Canceled on identification as a pivot, during commit attempt.".to_owned()
            }
            Reason::Write => "Canceled on identification as a pivot, during write.".to_owned(),
            Reason::Read(pivot) => {
                let pivot = pivot.map_or(0, |xid| xid.0);
                format!("Canceled on conflict out to pivot {pivot}, during read.")
            }
            Reason::Commit => {
                "Canceled on commit attempt with conflict in from prepared pivot.".to_owned()
            }
        };
        let message =
            "could not serialize access due to read/write dependencies among transactions";
        SqlError::new("40001", message)
            .detail(format!("Reason code: {detail}"))
            .hint("The transaction might succeed if retried.")
    }
}
