//! Serializable snapshot isolation: which transactions could not have run one after the other.
//!
//! A SERIALIZABLE transaction reads from its snapshot, as REPEATABLE READ does, and what it reads
//! is remembered (`sireads.rs`). A write finds the readers before it, a read finds the writers
//! whose change it does not see: in both cases the reader has to come first in any order, which is
//! a conflict from the reader to the writer. Two conflicts in a row, of which the last writer was
//! committed first, may be part of a circle (`conflicts.rs`): then one of the three is cancelled,
//! which a transaction finds out when it reads, writes or commits next. What was read stays known
//! after the commit, until every transaction that ran at the same time has ended (`ending.rs`).
//!
//! Sources: src/backend/storage/lmgr/README-SSI and predicate.c of PostgreSQL 15; Ports and
//! Grittner, Serializable Snapshot Isolation in PostgreSQL, VLDB 2012. Not modelled: the summary of
//! old transactions that a server makes when it has no room for more; locks of several pages of a
//! table or an index, as the tables of locks have one.

mod conflicts;
mod ending;
mod sireads;

pub(crate) use sireads::Target;

use super::Xid;
use super::snapshot::Snapshot;
use crate::error::SqlError;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Names a serializable transaction whose reads and writes are tracked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Tracked(u64);

/// Counts the prepared and the committed transactions: orders what happened.
type Moment = u64;

/// Why a transaction is cancelled, in the words of the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    /// Another transaction had decided it, which is found out by a read.
    DuringRead,
    /// The same, found out by a write.
    DuringWrite,
    /// The same, found out by COMMIT.
    DuringCommit,
    /// Its write completes the structure.
    Write,
    /// Its read completes the structure, whose pivot can no longer be cancelled.
    Read(Option<Xid>),
    /// Its commit completes the structure, whose pivot can no longer be cancelled.
    Commit,
}

/// A transaction that is tracked, or was and is still of interest.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// From its first write.
    xid: Option<Xid>,
    /// The oldest transaction that was running when it took its snapshot.
    xmin: u64,
    /// The last moment before its snapshot.
    began: Moment,
    prepared: Option<Moment>,
    committed: Option<Moment>,
    /// The first of those that committed before it and whose writes it did not see.
    earliest_out: Option<Moment>,
    /// The transaction id that was next when it ended.
    finished_before: u64,
    /// Declared so, or committed without a write.
    is_read_only: bool,
    /// It has to roll back, and so conflicts with nobody.
    is_doomed: bool,
    has_written: bool,
    /// It is read-only, and nothing can go wrong with it any more.
    is_safe: bool,
    /// To whom it has conflicts, as a reader.
    outs: Vec<Tracked>,
    /// From whom it has conflicts, as a writer.
    ins: Vec<Tracked>,
    /// Of one declared read-only: the writers whose end decides whether it is safe. Of a writer:
    /// those whose safety it decides.
    undecided: Vec<Tracked>,
    sireads: BTreeSet<Target>,
}

/// All serializable transactions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Serializable {
    all: BTreeMap<Tracked, Entry>,
    next: u64,
    by_xid: BTreeMap<Xid, Tracked>,
    /// Who has read what, in the order in which they did.
    readers: BTreeMap<Target, Vec<Tracked>>,
    /// The committed ones that are still of interest, in the order of their commits.
    finished: VecDeque<Tracked>,
    last: Moment,
    /// How many are running that were not declared read-only.
    writable: usize,
    /// The oldest `xmin` of the running ones, and how many have it.
    global_xmin: Option<(u64, usize)>,
    /// Up to which commit what only matters to writers may be forgotten, and is.
    clearable: Moment,
    cleared: Moment,
}

impl Serializable {
    /// Tracks a transaction from its snapshot on; `None` for a read-only one that is safe.
    pub(crate) fn begin(
        &mut self,
        snapshot: &Snapshot,
        own: Option<Xid>,
        is_read_only: bool,
    ) -> Option<Tracked> {
        if is_read_only && self.writable == 0 {
            return None;
        }
        let id = Tracked(self.next);
        let mut undecided = Vec::new();
        if is_read_only {
            let can_write = |entry: &&mut Entry| {
                entry.committed.is_none() && !entry.is_doomed && !entry.is_read_only
            };
            let writers = self.all.iter_mut().map(|(of, entry)| (*of, entry));
            for (of, entry) in writers.filter(|(_, entry)| can_write(entry)) {
                entry.undecided.push(id);
                undecided.push(of);
            }
            if undecided.is_empty() {
                return None;
            }
        } else {
            self.writable += 1;
        }
        self.next += 1;
        let (xmin, began) = (snapshot.xmin().0, self.last);
        match &mut self.global_xmin {
            None => self.global_xmin = Some((xmin, 1)),
            Some((oldest, count)) if *oldest == xmin => *count += 1,
            Some(_) => {}
        }
        let entry = Entry { xmin, began, is_read_only, undecided, ..Entry::default() };
        self.all.insert(id, entry);
        own.into_iter().for_each(|xid| self.register(id, xid));
        Some(id)
    }

    /// A transaction has got its id.
    pub(crate) fn register(&mut self, id: Tracked, xid: Xid) {
        if let Some(entry) = self.all.get_mut(&id) {
            entry.xid = Some(xid);
            self.by_xid.insert(xid, id);
        }
    }

    /// Whether a transaction is read-only and nothing can go wrong with it any more.
    pub(crate) fn is_safe(&self, id: Tracked) -> bool {
        self.get(id).is_some_and(|entry| entry.is_safe)
    }

    /// Errors: the given reason, if another transaction has decided that this one cannot commit.
    pub(crate) fn check_doomed(&self, id: Tracked, reason: Reason) -> Result<(), Reason> {
        match self.get(id) {
            Some(entry) if entry.is_doomed => Err(reason),
            _ => Ok(()),
        }
    }

    /// Whether nothing is remembered.
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
