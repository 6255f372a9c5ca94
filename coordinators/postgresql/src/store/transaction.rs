//! Transactions: what each sees, what it has done and would take back.

use super::heap::Heap;
use super::locks::{Locks, Tag};
use super::serializable::Tracked;
use super::snapshot::Snapshot;
use super::{Backend, TableId, VersionId, Xid};
use crate::settings::Settings;
use crate::span::Span;
use crate::sql::ast::{Isolation, LockMode, Strength};

/// Something that is taken back if the transaction is.
#[derive(Clone, Debug)]
pub(crate) enum Undo {
    Inserted(TableId, VersionId),
    /// A version was replaced or deleted.
    Ended(TableId, VersionId),
    Locked(TableId, VersionId, Strength),
    Created(TableId),
    Dropped(TableId),
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
    /// What the settings are once it has ended well, where `SET LOCAL` differs.
    pub(crate) settings_after: Option<Settings>,
    /// What they are if it ends badly.
    pub(crate) settings_before: Settings,
    /// The sync that its commit waits for.
    pub(crate) flushing: Option<u64>,
    /// Up to where a standby must have the log before its commit is answered; 0 for none.
    pub(crate) standby: u64,
}

impl Transaction {
    /// Takes back what was done.
    pub(crate) fn take_back(&mut self, heap: &mut Heap, locks: &mut Locks, backend: Backend) {
        while let Some(done) = self.undo.pop() {
            match done {
                Undo::Inserted(table, version) => heap.remove(table, version),
                Undo::Ended(table, version) => heap.revive(table, version),
                Undo::Locked(table, version, strength) => {
                    heap.unlock(table, version, self.xid, strength);
                }
                Undo::Created(table) => drop(heap.forget(table)),
                Undo::Dropped(table) => heap.undrop(table),
                Undo::Took(tag, mode) => {
                    locks.release(backend, tag, mode, Span::Transaction);
                }
            }
        }
    }
}
