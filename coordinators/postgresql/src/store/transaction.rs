use super::heap::Heap;
use super::locks::{Locks, Tag};
use super::serializable::Tracked;
use super::snapshot::Snapshot;
use super::{Backend, TableId, VersionId, Xid};
use crate::settings::Settings;
use crate::span::Span;
use crate::sql::ast::{Isolation, LockMode, Strength};

#[derive(Clone, Debug)]
pub(crate) enum Undo {
    Inserted(TableId, VersionId),
    Ended(TableId, VersionId),
    Locked(TableId, VersionId, Strength),
    Created(TableId),
    Dropped(TableId),
    Took(Tag, LockMode),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Transaction {
    pub(crate) xid: Option<Xid>,
    pub(crate) isolation: Isolation,
    pub(crate) read_only: bool,
    pub(crate) is_block: bool,
    pub(crate) has_failed: bool,
    pub(crate) began: i64,
    pub(crate) command: u32,
    pub(crate) has_looked: bool,
    pub(crate) snapshot: Option<Snapshot>,
    pub(crate) tracked: Option<Tracked>,
    pub(crate) undo: Vec<Undo>,
    pub(crate) settings_after: Option<Settings>,
    pub(crate) settings_before: Settings,
    pub(crate) flushing: Option<u64>,
    /// Log position that a standby must confirm before the reply; 0 if no standby must confirm.
    pub(crate) standby: u64,
}

impl Transaction {
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
