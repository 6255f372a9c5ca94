//! Transactions: what each sees, what it has done and would take back.

use super::heap::Heap;
use super::locks::{Locks, Span, Tag};
use super::serializable::Tracked;
use super::{Backend, TableId, VersionId, Xid};
use crate::settings::Settings;
use crate::sql::ast::{Isolation, LockMode, Strength};
use std::collections::{BTreeMap, BTreeSet};

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

/// Something that is taken back if the transaction, or the part since a savepoint, is.
#[derive(Clone, Debug)]
pub(crate) enum Undo {
    Inserted(TableId, VersionId),
    /// A version was replaced or deleted.
    Ended(TableId, VersionId),
    Locked(TableId, VersionId, Strength),
    Created(TableId),
    Dropped(TableId),
    /// The last index of a table.
    Indexed(TableId),
    Took(Tag, LockMode),
}

/// A transaction of a session.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    /// From the first write.
    pub(crate) xid: Option<Xid>,
    pub(crate) isolation: Isolation,
    pub(crate) read_only: bool,
    /// Whether BEGIN was said.
    pub(crate) is_block: bool,
    /// Whether several statements of one message are one transaction.
    pub(crate) is_implicit_block: bool,
    pub(crate) has_failed: bool,
    /// The wall clock at its start: what `now()` says.
    pub(crate) began: i64,
    pub(crate) command: u32,
    /// Whether a statement of it has looked at data.
    pub(crate) has_looked: bool,
    /// Of REPEATABLE READ and SERIALIZABLE.
    pub(crate) snapshot: Option<Snapshot>,
    /// Of SERIALIZABLE, from its snapshot on.
    pub(crate) tracked: Option<Tracked>,
    pub(crate) undo: Vec<Undo>,
    pub(crate) savepoints: Vec<Savepoint>,
    /// What the settings are once it has ended well, where `SET LOCAL` differs.
    pub(crate) settings_after: Option<Settings>,
    /// What they are if it ends badly.
    pub(crate) settings_before: Settings,
    /// The sync that its commit waits for.
    pub(crate) flushing: Option<u64>,
    /// Up to where a standby must have the log before its commit is answered; 0 for none.
    pub(crate) standby: u64,
}

/// Where a transaction can go back to.
#[derive(Clone, Debug)]
pub(crate) struct Savepoint {
    pub(crate) name: String,
    /// How much there was to take back then.
    pub(crate) mark: usize,
    pub(crate) settings: Settings,
    pub(crate) read_only: bool,
}

/// Which transactions are running, and what they see.
#[derive(Clone, Debug)]
pub(crate) struct Transactions {
    next: Xid,
    running: BTreeSet<Xid>,
    /// The oldest snapshot of each backend.
    seen: BTreeMap<Backend, Xid>,
}

/// The first transaction of a cluster that `initdb` made.
const FIRST: u64 = 731;

impl Transactions {
    pub(crate) fn new() -> Transactions {
        Transactions { next: Xid(FIRST), running: BTreeSet::new(), seen: BTreeMap::new() }
    }

    pub(crate) fn start(&mut self) -> Xid {
        let xid = self.next;
        self.next = Xid(xid.0 + 1);
        self.running.insert(xid);
        xid
    }

    /// The id that the next transaction gets.
    pub(crate) fn next(&self) -> Xid {
        self.next
    }

    pub(crate) fn is_running(&self, xid: Xid) -> bool {
        self.running.contains(&xid)
    }

    pub(crate) fn end(&mut self, xid: Xid) {
        self.running.remove(&xid);
    }

    pub(crate) fn snapshot(
        &mut self,
        backend: Backend,
        own: Option<Xid>,
        command: u32,
    ) -> Snapshot {
        let oldest = self.running.first().copied().unwrap_or(self.next);
        let seen = self.seen.entry(backend).or_insert(oldest);
        *seen = (*seen).min(oldest);
        Snapshot { next: self.next, running: self.running.clone(), own, command }
    }

    /// A backend looks at nothing any more.
    pub(crate) fn forget(&mut self, backend: Backend) {
        self.seen.remove(&backend);
    }

    /// What ended before this is seen as ended by all.
    pub(crate) fn horizon(&self) -> Xid {
        let running = self.running.first().copied().unwrap_or(self.next);
        self.seen.values().copied().min().map_or(running, |seen| seen.min(running))
    }
}

impl Transaction {
    /// Takes back what was done since a mark.
    pub(crate) fn take_back(
        &mut self,
        mark: usize,
        heap: &mut Heap,
        locks: &mut Locks,
        backend: Backend,
    ) {
        while self.undo.len() > mark {
            let Some(done) = self.undo.pop() else { return };
            match done {
                Undo::Inserted(table, version) => heap.remove(table, version),
                Undo::Ended(table, version) => heap.revive(table, version),
                Undo::Locked(table, version, strength) => {
                    heap.unlock(table, version, self.xid, strength);
                }
                Undo::Created(table) => drop(heap.forget(table)),
                Undo::Dropped(table) => heap.undrop(table),
                Undo::Indexed(table) => heap.drop_last_index(table),
                Undo::Took(tag, mode) => {
                    locks.release(backend, tag, mode, Span::Transaction);
                }
            }
        }
    }
}
