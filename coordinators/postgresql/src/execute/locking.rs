use super::{Execution, Stop};
use crate::error::SqlError;
use crate::span::Span;
use crate::sql::ast::{Isolation, LockMode, Named, Policy, Statement, Strength};
use crate::store::locks::{Answer, Tag};
use crate::store::rows::{Standing, standing};
use crate::store::transaction::Undo;
use crate::store::{TableId, VersionId, Xid};

impl Execution<'_> {
    pub(super) fn lock_tables(&mut self, statement: &Statement) -> Result<(), Stop> {
        let (named, mode) = match statement {
            Statement::Select(select) => {
                let Some(source) = &select.from else { return Ok(()) };
                let is_locking = select.locking.is_some();
                let mode = if is_locking { LockMode::RowShare } else { LockMode::AccessShare };
                (&source.table, mode)
            }
            Statement::Insert(insert) => (&insert.table.table, LockMode::RowExclusive),
            Statement::Update(update) => (&update.table.table, LockMode::RowExclusive),
            Statement::Delete(delete) => (&delete.table.table, LockMode::RowExclusive),
            _ => return Ok(()),
        };
        self.lock_table(named, mode)?;
        Ok(())
    }

    pub(super) fn refuse_writes(&self, statement: &Statement) -> Result<(), SqlError> {
        if !self.session.transaction.as_ref().is_some_and(|open| open.read_only) {
            return Ok(());
        }
        let word = match statement {
            Statement::Select(select) => match select.locking.map(|locking| locking.strength) {
                None => return Ok(()),
                Some(Strength::KeyShare) => "SELECT FOR KEY SHARE",
                Some(Strength::Share) => "SELECT FOR SHARE",
                Some(Strength::NoKeyUpdate) => "SELECT FOR NO KEY UPDATE",
                Some(Strength::Update) => "SELECT FOR UPDATE",
            },
            Statement::Insert(_) => "INSERT",
            Statement::Update(_) => "UPDATE",
            Statement::Delete(_) => "DELETE",
            _ => return Ok(()),
        };
        let message = format!("cannot execute {word} in a read-only transaction");
        Err(SqlError::new("25006", message))
    }

    pub(super) fn refuse_serializable(&self) -> Result<(), SqlError> {
        let open = self.session.transaction.as_ref();
        let Some(open) = open.filter(|open| open.isolation == Isolation::Serializable) else {
            return Ok(());
        };
        if !self.core.is_in_recovery {
            return match open.read_only {
                true => Err(SqlError::unsupported("SERIALIZABLE READ ONLY")),
                false => Ok(()),
            };
        }
        let hint = "You can use \"SET default_transaction_isolation = 'repeatable read'\" to \
                    change the default.";
        Err(SqlError::new("0A000", "cannot use serializable mode in a hot standby")
            .detail("\"default_transaction_isolation\" is set to \"serializable\".")
            .hint(hint))
    }

    pub(super) fn lock_table(&mut self, named: &Named, mode: LockMode) -> Result<TableId, Stop> {
        let table = self.core.table(named, self.session.xid())?.id;
        let (backend, tag) = (self.session.backend, Tag::Table(table));
        if self.core.locks.has(backend, tag, mode) {
            return Ok(table);
        }
        let answer = self.core.locks.acquire(backend, tag, mode, Span::Transaction);
        if let Some(transaction) = &mut self.session.transaction {
            transaction.undo.push(Undo::Took(tag, mode));
        }
        if answer == Answer::Waits { Err(Stop::Wait) } else { Ok(table) }
    }

    pub(super) fn own_xid(&mut self) -> Xid {
        if let Some(xid) = self.session.xid() {
            return xid;
        }
        let xid = self.core.transactions.start();
        let tag = Tag::Transaction(xid);
        let backend = self.session.backend;
        self.core.locks.acquire(backend, tag, LockMode::Exclusive, Span::Transaction);
        if let Some(transaction) = &mut self.session.transaction {
            transaction.xid = Some(xid);
            let tracked = transaction.tracked;
            tracked.into_iter().for_each(|id| self.core.serializable.register(id, xid));
        }
        xid
    }

    pub(super) fn await_end(&mut self, xid: Xid) -> Stop {
        let (backend, tag) = (self.session.backend, Tag::Transaction(xid));
        self.core.locks.acquire(backend, tag, LockMode::Share, Span::Transaction);
        Stop::Wait
    }

    pub(super) fn take_row_lock(
        &mut self,
        table: TableId,
        version: VersionId,
        strength: Strength,
        policy: Policy,
    ) -> Result<Standing, Stop> {
        let (heap, transactions) = (&self.core.heap, &self.core.transactions);
        let own = self.session.xid();
        let now = standing(heap, transactions, table, version, own, strength);
        if let Standing::Taken(xid) = now {
            match policy {
                Policy::SkipLocked => return Ok(now),
                Policy::Nowait => {
                    let name = heap.get(table).map_or("", |table| table.name.as_str());
                    let message = format!("could not obtain lock on row in relation \"{name}\"");
                    return Err(SqlError::new("55P03", message).into());
                }
                Policy::Wait => {}
            }
            let backend = self.session.backend;
            if self.run.turn.is_none() {
                let (tag, mode) = (Tag::Row(table, version), strength.turn());
                self.run.turn = Some((tag, mode));
                let answer = self.core.locks.acquire(backend, tag, mode, Span::Transaction);
                if answer == Answer::Waits {
                    return Err(Stop::Wait);
                }
            }
            return Err(self.await_end(xid));
        }
        if let Some((tag, mode)) = self.run.turn.take() {
            self.core.locks.release(self.session.backend, tag, mode, Span::Transaction);
        }
        Ok(now)
    }

    /// Locks a version, and the later versions that a running transaction has added.
    pub(super) fn lock_version(&mut self, table: TableId, version: VersionId, strength: Strength) {
        let xid = self.own_xid();
        let mut next = Some(version);
        while let Some(version) = next {
            let Some(held) = self.core.heap.version_mut(table, version) else { return };
            next = held.ended.and_then(|ended| ended.next);
            if held.lockers.contains(&(xid, strength)) {
                continue;
            }
            held.lockers.push((xid, strength));
            if let Some(transaction) = &mut self.session.transaction {
                transaction.undo.push(Undo::Locked(table, version, strength));
            }
        }
    }

    pub(super) fn is_strict(&self) -> bool {
        let open = self.session.transaction.as_ref();
        open.is_some_and(|open| open.isolation >= Isolation::RepeatableRead)
    }
}

pub(super) fn serialization(what: &str) -> SqlError {
    let message = format!("could not serialize access due to concurrent {what}");
    SqlError::new("40001", message)
}
