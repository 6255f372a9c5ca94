//! Starts and ends transactions. A commit becomes visible after its waits for disk and standby.

use super::Stop;
use crate::core::Core;
use crate::error::SqlError;
use crate::session::Session;
use crate::span::Span;
use crate::sql::ast::Modes;
use crate::store::table::Definition;
use crate::store::transaction::{Transaction, Undo};
use crate::store::{TableId, VersionId};
use crate::wal::{self, Record};
use bytes::Bytes;
use std::collections::BTreeSet;

pub(crate) fn ensure(core: &Core, session: &mut Session) {
    if session.transaction.is_some() {
        return;
    }
    let settings = &session.settings;
    session.transaction = Some(Transaction {
        isolation: settings.isolation,
        read_only: settings.read_only || core.is_in_recovery,
        began: core.now.wall.0,
        settings_before: settings.clone(),
        ..Transaction::default()
    });
}

impl Transaction {
    pub(super) fn take_modes(&mut self, modes: Modes) {
        self.isolation = modes.isolation.unwrap_or(self.isolation);
        self.read_only = modes.read_only.unwrap_or(self.read_only);
    }

    fn records(&self, core: &Core) -> Vec<Record> {
        let mut records = Vec::new();
        let mut written: BTreeSet<(TableId, VersionId)> = BTreeSet::new();
        for done in &self.undo {
            match done {
                Undo::Created(table) => {
                    if let Some(definition) = core.heap.get(*table) {
                        records.push(Record::table(definition));
                    }
                }
                Undo::Dropped(table) => records.push(Record::Drop(*table)),
                Undo::Inserted(table, version) => {
                    if written.insert((*table, *version))
                        && let Some(live) = core.heap.version(*table, *version)
                        && live.ended.is_none_or(|ended| Some(ended.by) != self.xid)
                    {
                        records.push(Record::put(*table, *version, live));
                    }
                }
                Undo::Ended(table, version) => records.push(Record::Remove(*table, *version)),
                Undo::Locked(..) | Undo::Took(..) => {}
            }
        }
        records
    }
}

pub(crate) fn commit(core: &mut Core, session: &mut Session) -> Result<(), Stop> {
    let Some(transaction) = &mut session.transaction else { return Ok(()) };
    if transaction.flushing.is_none() {
        if let Some(tracked) = transaction.tracked
            && let Err(reason) = core.serializable.prepare(tracked)
        {
            rollback(core, session);
            return Err(SqlError::from(reason).into());
        }
        let records = transaction.records(core);
        let writes = transaction.xid.is_some() && !transaction.undo.is_empty();
        let sync = if writes { core.write(wal::group(&records)) } else { None };
        transaction.flushing = Some(sync.unwrap_or(0));
        if writes && core.is_synchronous && session.settings.waits_for_standby() {
            transaction.standby = core.log.append(&Bytes::new());
        }
    }
    let wanted = transaction.flushing.unwrap_or(0);
    if wanted > core.done_syncs {
        return Err(Stop::Flush(wanted));
    }
    if transaction.standby > core.confirmed {
        return Err(Stop::Standby(transaction.standby));
    }
    finish(core, session);
    Ok(())
}

fn finish(core: &mut Core, session: &mut Session) {
    let Some(transaction) = session.transaction.take() else { return };
    let tables: BTreeSet<TableId> = transaction.undo.iter().filter_map(Undo::table).collect();
    if let Some(xid) = transaction.xid {
        core.transactions.end(xid);
    }
    if let Some(tracked) = transaction.tracked {
        core.serializable.commit(tracked, core.transactions.next());
    }
    if !tables.is_empty() {
        core.committed_last = session.connection;
    }
    for done in &transaction.undo {
        match done {
            Undo::Created(table) => {
                if let Some(definition) = core.heap.get_mut(*table) {
                    definition.creator = None;
                }
            }
            Undo::Dropped(table) => drop::<Option<Definition>>(core.heap.forget(*table)),
            Undo::Locked(table, version, strength) => {
                core.heap.unlock(*table, *version, transaction.xid, *strength);
            }
            _ => {}
        }
    }
    if let Some(settings) = transaction.settings_after {
        session.settings = settings;
    }
    core.transactions.forget(session.backend);
    for table in tables {
        core.heap.vacuum(table, &core.transactions);
    }
    core.locks.release_all(session.backend, Span::Transaction);
}

pub(crate) fn fail(core: &mut Core, session: &mut Session) {
    let Some(transaction) = &mut session.transaction else { return };
    if !transaction.is_block {
        return rollback(core, session);
    }
    release(core, session);
    if let Some(transaction) = &mut session.transaction {
        transaction.has_failed = true;
    }
}

pub(crate) fn rollback(core: &mut Core, session: &mut Session) {
    release(core, session);
    if let Some(transaction) = session.transaction.take() {
        session.settings = transaction.settings_before;
    }
}

fn release(core: &mut Core, session: &mut Session) {
    let Some(transaction) = &mut session.transaction else { return };
    let backend = session.backend;
    transaction.take_back(&mut core.heap, &mut core.locks, backend);
    if let Some(xid) = transaction.xid.take() {
        core.transactions.end(xid);
    }
    transaction.snapshot = None;
    if let Some(tracked) = transaction.tracked.take() {
        core.serializable.abandon(tracked);
    }
    core.transactions.forget(backend);
    core.locks.release_all(backend, Span::Transaction);
}

impl Undo {
    fn table(&self) -> Option<TableId> {
        match self {
            Undo::Inserted(table, _) | Undo::Ended(table, _) => Some(*table),
            _ => None,
        }
    }
}
