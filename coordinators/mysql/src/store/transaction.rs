use super::key::Key;
use super::locks::{Extent, Mode, Place, Wanted};
use super::log::Record;
use super::rows::{Values, Version};
use super::xid::Xid;
use super::{Store, TableId};
use crate::locks::SessionId;
use std::collections::BTreeSet;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    #[default]
    RepeatableRead,
    Serializable,
}

impl Isolation {
    pub(crate) fn named(name: &str) -> Isolation {
        match name {
            "READ-UNCOMMITTED" => Isolation::ReadUncommitted,
            "READ-COMMITTED" => Isolation::ReadCommitted,
            "SERIALIZABLE" => Isolation::Serializable,
            _ => Isolation::RepeatableRead,
        }
    }

    pub(crate) fn locks_gaps(self) -> bool {
        self > Isolation::ReadCommitted
    }
}

#[derive(Clone, Debug)]
pub(crate) struct View {
    next: Xid,
    running: BTreeSet<Xid>,
}

impl View {
    fn sees(&self, by: Xid) -> bool {
        by < self.next && !self.running.contains(&by)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Transaction {
    pub(crate) xid: Option<Xid>,
    pub(crate) isolation: Isolation,
    pub(crate) view: Option<View>,
    undo: Vec<(TableId, Key)>,
    mark: usize,
    pub(crate) tables: BTreeSet<TableId>,
    pub(crate) replaces: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Had { is_new: bool },
    Blocked(SessionId),
}

impl Store {
    pub(crate) fn begin(&mut self, session: SessionId, isolation: Isolation, table: TableId) {
        let transaction = self.transactions.entry(session).or_default();
        transaction.isolation = isolation;
        transaction.replaces = false;
        transaction.tables.insert(table);
    }

    pub(crate) fn mark(&mut self, session: SessionId) {
        if let Some(transaction) = self.transactions.get_mut(&session) {
            transaction.mark = transaction.undo.len();
        }
    }

    pub(crate) fn intend(&mut self, session: SessionId, table: TableId, mode: Mode) {
        let has = |mode| self.intents.contains(&(session, table, mode));
        if !has(Mode::Exclusive) && !has(mode) {
            self.intents.insert((session, table, mode));
        }
        if mode == Mode::Exclusive {
            self.xid(session);
        }
    }

    fn xid(&mut self, session: SessionId) -> Xid {
        let next = Xid(self.next_transaction + 1);
        let Some(transaction) = self.transactions.get_mut(&session) else { return next };
        *transaction.xid.get_or_insert_with(|| {
            self.next_transaction = next.0;
            self.active.insert(next, session);
            next
        })
    }

    /// Answers a lock request. A transaction implicitly locks each row that it changes.
    pub(crate) fn ask(&mut self, wanted: &mut Wanted) -> Answer {
        if let Some(owner) = self.changer(wanted.table, &wanted.place) {
            if owner == wanted.by {
                if wanted.extent == Extent::Row {
                    return Answer::Had { is_new: false };
                }
            } else {
                let mode = Mode::Exclusive;
                let own = Wanted { by: owner, mode, extent: Extent::Row, ..wanted.clone() };
                if !self.locks.has(&own) {
                    self.locks.add_lock(own);
                }
            }
        }
        if self.locks.has(wanted) {
            return Answer::Had { is_new: false };
        }
        if wanted.extent == Extent::Both && wanted.place != Place::End {
            let row = Wanted { extent: Extent::Row, ..wanted.clone() };
            if self.locks.has(&row) {
                wanted.extent = Extent::Gap;
                return Answer::Had { is_new: !self.locks.has(wanted) };
            }
        }
        match self.locks.conflicting_session(wanted) {
            Some(other) => Answer::Blocked(other),
            None => Answer::Had { is_new: true },
        }
    }

    pub(crate) fn changer(&self, table: TableId, place: &Place) -> Option<SessionId> {
        let Place::Row(key) = place else { return None };
        let newest = self.tables.get(&table)?.rows.newest(key)?;
        self.active.get(&newest.by).copied()
    }

    /// Queues a request. Returns `false` if this causes a deadlock and the victim is the requester.
    pub(crate) fn wait(&mut self, wanted: Wanted, behind: SessionId) -> bool {
        let session = wanted.by;
        self.locks.wait(wanted, behind);
        match self.victim(session) {
            Some(victim) if victim == session => {
                self.locks.give_up(session);
                false
            }
            Some(victim) => {
                self.refuse(victim);
                true
            }
            None => true,
        }
    }

    fn refuse(&mut self, victim: SessionId) {
        self.locks.give_up(victim);
        self.victims.push_back(victim);
    }

    /// Returns the session to refuse in a deadlock cycle: the one with the fewest changes and
    /// locks, or `session` in a tie. Returns `None` if there is no cycle.
    fn victim(&self, session: SessionId) -> Option<SessionId> {
        let circle = self.locks.deadlock_cycle(session);
        circle.into_iter().min_by_key(|one| (self.weight(*one), *one != session))
    }

    fn weight(&self, session: SessionId) -> usize {
        let changes = self.transactions.get(&session).map_or(0, |one| one.undo.len());
        let intents = self.intents.iter().filter(|(by, ..)| *by == session).count();
        changes + intents + self.locks.count(session)
    }

    pub(crate) fn wake(&mut self) {
        let (granted, turned) = self.locks.grant();
        self.woken.extend(granted);
        for session in turned {
            if let Some(victim) = self.victim(session) {
                self.refuse(victim);
            }
        }
    }

    pub(crate) fn write(
        &mut self,
        session: SessionId,
        table: TableId,
        key: Key,
        values: Option<Values>,
    ) {
        let by = self.xid(session);
        let Some(rows) = self.tables.get_mut(&table).map(|table| &mut table.rows) else { return };
        let is_new = !rows.0.contains_key(&key);
        rows.0.entry(key.clone()).or_default().push(Version { by, values });
        if is_new {
            let next = self.next_place(table, &key);
            self.locks.split(table, &Place::Row(key.clone()), &next);
        }
        if let Some(transaction) = self.transactions.get_mut(&session) {
            transaction.undo.push((table, key));
        }
    }

    pub(crate) fn next_place(&self, table: TableId, key: &Key) -> Place {
        let next = self.tables.get(&table).and_then(|table| table.rows.after(Some(key)));
        next.map_or(Place::End, |next| Place::Row(next.clone()))
    }

    fn remove(&mut self, table: TableId, key: &Key) {
        if let Some(table) = self.tables.get_mut(&table) {
            table.rows.0.remove(key);
        }
        let (gone, next) = (Place::Row(key.clone()), self.next_place(table, key));
        let transactions = &self.transactions;
        let keeps = |by: SessionId, mode: Mode| {
            transactions.get(&by).is_some_and(|one: &Transaction| {
                let usual = if one.replaces { Mode::Shared } else { Mode::Exclusive };
                one.isolation.locks_gaps() || mode != usual
            })
        };
        let woken = self.locks.merge(table, (&gone, &next), keeps);
        self.woken.extend(woken);
    }

    pub(crate) fn undo_statement(&mut self, session: SessionId) {
        let mark = self.transactions.get(&session).map_or(0, |one| one.mark);
        self.undo(session, mark);
        self.wake();
    }

    fn undo(&mut self, session: SessionId, mark: usize) {
        while let Some(transaction) = self.transactions.get_mut(&session) {
            if transaction.undo.len() <= mark {
                return;
            }
            let Some((table, key)) = transaction.undo.pop() else { return };
            let rows = self.tables.get_mut(&table).map(|table| &mut table.rows);
            let Some(versions) = rows.and_then(|rows| rows.0.get_mut(&key)) else { continue };
            versions.pop();
            if versions.is_empty() {
                self.remove(table, &key);
            }
        }
    }

    pub(crate) fn roll_back(&mut self, session: SessionId) {
        self.undo(session, 0);
        self.end(session);
    }

    pub(crate) fn commit(&mut self, session: SessionId) -> bool {
        let undo = self.transactions.get_mut(&session).map(|one| std::mem::take(&mut one.undo));
        let changed: BTreeSet<(TableId, Key)> = undo.unwrap_or_default().into_iter().collect();
        for (id, key) in &changed {
            let Some(table) = self.tables.get(id) else { continue };
            let name = table.definition.name.clone();
            let values = table.rows.newest(key).and_then(|newest| newest.values.clone());
            self.unlogged.push(match values {
                Some(values) => Record::Put(name, values.to_vec()),
                None => Record::Remove(name, key.clone()),
            });
        }
        let has_changed = !changed.is_empty();
        self.history.extend(changed);
        self.end(session);
        has_changed
    }

    fn end(&mut self, session: SessionId) {
        if let Some(Transaction { xid: Some(xid), .. }) = self.transactions.remove(&session) {
            self.active.remove(&xid);
        }
        self.intents.retain(|(by, ..)| *by != session);
        self.locks.release_all(session);
        self.wake();
    }

    pub(crate) fn seen(&self, session: SessionId, table: TableId, key: &Key) -> Option<Values> {
        let transaction = self.transactions.get(&session)?;
        let versions = self.tables.get(&table)?.rows.0.get(key)?;
        let is_seen = |version: &&Version| match &transaction.view {
            Some(view) => Some(version.by) == transaction.xid || view.sees(version.by),
            None => true,
        };
        versions.iter().rev().find(is_seen)?.values.clone()
    }

    pub(crate) fn committed(&self, table: TableId, key: &Key) -> Option<Values> {
        let versions = self.tables.get(&table)?.rows.0.get(key)?;
        let is_over = |version: &&Version| !self.active.contains_key(&version.by);
        versions.iter().rev().find(is_over)?.values.clone()
    }

    pub(crate) fn refresh_view(&mut self, session: SessionId) {
        let view = View {
            next: Xid(self.next_transaction + 1),
            running: self.active.keys().copied().collect(),
        };
        let Some(transaction) = self.transactions.get_mut(&session) else { return };
        match transaction.isolation {
            Isolation::ReadUncommitted => transaction.view = None,
            Isolation::ReadCommitted => transaction.view = Some(view),
            _ => drop(transaction.view.get_or_insert(view)),
        }
    }

    pub(crate) fn purge(&mut self) {
        let history: BTreeSet<(TableId, Key)> =
            std::mem::take(&mut self.history).into_iter().collect();
        for (id, key) in history {
            let views: Vec<&View> =
                self.transactions.values().filter_map(|one| one.view.as_ref()).collect();
            let is_old = |version: &Version| {
                let is_over = !self.active.contains_key(&version.by);
                is_over && views.iter().all(|view| view.sees(version.by))
            };
            let Some(versions) = self.tables.get(&id).and_then(|table| table.rows.0.get(&key))
            else {
                continue;
            };
            let Some(keep) = versions.iter().rposition(is_old) else {
                self.history.push((id, key));
                continue;
            };
            let is_gone = keep + 1 == versions.len() && versions[keep].values.is_none();
            let is_done = keep + 1 == versions.len();
            if is_gone {
                self.remove(id, &key);
                continue;
            }
            if let Some(versions) =
                self.tables.get_mut(&id).and_then(|table| table.rows.0.get_mut(&key))
            {
                versions.drain(..keep);
            }
            if !is_done {
                self.history.push((id, key));
            }
        }
    }
}
