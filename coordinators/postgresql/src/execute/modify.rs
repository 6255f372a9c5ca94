use super::checks::check_not_null;
use super::evaluate::Row;
use super::insert::Entered;
use super::locking::serialization;
use super::plan::ModifyPlan;
use super::{Execution, StatementResult, Stop};
use crate::bound::{Bound, Output};
use crate::error::SqlError;
use crate::sql::ast::{Policy, Strength};
use crate::store::rows::Standing;
use crate::store::table::Ended;
use crate::store::transaction::Undo;
use crate::store::{TableId, VersionId, Xid};
use crate::types::Value;
use std::rc::Rc;

impl Execution<'_> {
    pub(super) fn modify(
        &mut self,
        plan: &ModifyPlan,
        outputs: Option<&[Output]>,
    ) -> Result<StatementResult, Stop> {
        if self.run.progress.targets.is_none() {
            let found = self.look_up_versions(plan.table, plan.filter.as_ref())?;
            self.run.progress.targets = Some(found);
        }
        while let Some(target) = self.target() {
            self.modify_one(plan, target, outputs)?;
            self.run.progress.at += 1;
            self.run.progress.current = None;
            self.run.progress.is_later = false;
            self.end_part();
        }
        self.touch_until(plan.table, None)?;
        let word = if plan.assignments.is_some() { "UPDATE" } else { "DELETE" };
        Ok(StatementResult { tag: format!("{word} {}", self.run.progress.count) })
    }

    pub(super) fn seen(&self, table: TableId) -> Vec<VersionId> {
        let snapshot = self.run.snapshot.as_ref();
        snapshot.map_or(Vec::new(), |snapshot| self.core.heap.visible(table, snapshot))
    }

    pub(super) fn target(&self) -> Option<VersionId> {
        let progress = &self.run.progress;
        progress.targets.as_ref()?.get(progress.at).copied()
    }

    pub(super) fn values(&self, table: TableId, version: VersionId) -> Rc<Vec<Value>> {
        let found = self.core.heap.version(table, version);
        found.map(|version| version.values.clone()).unwrap_or_default()
    }

    fn modify_one(
        &mut self,
        plan: &ModifyPlan,
        target: VersionId,
        outputs: Option<&[Output]>,
    ) -> Result<(), Stop> {
        let table = plan.table;
        if self.run.progress.entering.is_none() {
            let Some(version) = self.settle(plan, target)? else { return Ok(()) };
            let old = self.values(table, version);
            let Some(assignments) = &plan.assignments else {
                self.check_change(table, version)?;
                self.end_version(table, version, None, plan.strength);
                self.run.progress.count += 1;
                return self.give(outputs, Row::of(&old));
            };
            let values = self.assigned(table, assignments, Row::of(&old))?;
            self.replace(table, version, values, plan.strength)?;
        }
        let entered = self.enter(table)?;
        self.run.progress.count += 1;
        let values = self.values(table, entered.version);
        self.give(outputs, Row::of(&values))
    }

    fn settle(&mut self, plan: &ModifyPlan, target: VersionId) -> Result<Option<VersionId>, Stop> {
        let table = plan.table;
        let mut version = match self.run.progress.current {
            Some(version) => version,
            None => {
                let values = self.values(table, target);
                if !self.passes(plan.filter.as_ref(), Row::of(&values))? {
                    return Ok(None);
                }
                self.touch_until(table, Some(target))?;
                // As in PostgreSQL, report errors in the new row before any wait for a lock.
                if let Some(assignments) = &plan.assignments {
                    self.assigned(table, assignments, Row::of(&values))?;
                }
                self.run.progress.current = Some(target);
                target
            }
        };
        loop {
            match self.take_row_lock(table, version, plan.strength, Policy::Wait)? {
                Standing::Free => break,
                Standing::Own | Standing::Taken(_) => return Ok(None),
                Standing::Deleted if self.is_strict() => {
                    return Err(serialization("delete").into());
                }
                Standing::Replaced(_) if self.is_strict() => {
                    return Err(serialization("update").into());
                }
                Standing::Deleted => return Ok(None),
                Standing::Replaced(next) => {
                    version = next;
                    self.run.progress.current = Some(next);
                    self.run.progress.is_later = true;
                }
            }
        }
        if self.run.progress.is_later {
            self.lock_version(table, version, plan.strength);
            let values = self.values(table, version);
            if !self.passes(plan.filter.as_ref(), Row::of(&values))? {
                return Ok(None);
            }
        }
        Ok(Some(version))
    }

    pub(super) fn assigned(
        &mut self,
        table: TableId,
        assignments: &[(usize, Option<Bound>)],
        row: Row<'_>,
    ) -> Result<Vec<Value>, Stop> {
        let mut values = row.own.to_vec();
        for (column, value) in assignments {
            values[*column] = match value {
                Some(value) => self.evaluate(value, row)?,
                None => self.default(table, *column)?,
            };
        }
        if let Some(definition) = self.core.heap.get(table) {
            check_not_null(definition, &values)?;
        }
        Ok(values)
    }

    pub(super) fn replace(
        &mut self,
        table: TableId,
        version: VersionId,
        values: Vec<Value>,
        strength: Strength,
    ) -> Result<(), Stop> {
        self.check_change(table, version)?;
        let old = self.values(table, version);
        let next = self.add_version(table, values);
        self.end_version(table, version, Some(next), strength);
        let new = self.values(table, next);
        let Some(definition) = self.core.heap.get(table) else {
            return Err(SqlError::new("XX000", "a table without a definition").into());
        };
        let own = self.session.xid();
        let is_other = |(locker, _): &&(Xid, Strength)| {
            Some(*locker) != own && self.core.transactions.is_running(*locker)
        };
        let before = definition.versions.get(&version);
        let lockers =
            before.iter().flat_map(|old| &old.lockers).filter(is_other).copied().collect();
        let place = before.map_or(version, |old| old.place);
        let is_same = |columns: &[usize]| columns.iter().all(|at| old[*at] == new[*at]);
        let all = definition.indexes.len();
        let knows = definition.indexes.iter().all(|index| is_same(&index.columns));
        if let Some(next) = self.core.heap.version_mut(table, next) {
            next.lockers = lockers;
            if knows {
                next.indexed = all;
                (next.follows, next.place) = (Some(version), place);
            }
        }
        self.run.progress.entering = Some(next);
        Ok(())
    }

    fn end_version(
        &mut self,
        table: TableId,
        version: VersionId,
        next: Option<VersionId>,
        strength: Strength,
    ) {
        let by = self.own_xid();
        let Some(transaction) = &mut self.session.transaction else { return };
        let ended = Ended { by, command: transaction.command, next, strength };
        self.core.heap.end(table, version, ended);
        transaction.undo.push(Undo::Ended(table, version));
    }

    pub(super) fn give(&mut self, outputs: Option<&[Output]>, row: Row<'_>) -> Result<(), Stop> {
        let Some(outputs) = outputs else { return Ok(()) };
        let mut shown = Vec::new();
        for output in outputs {
            shown.push(self.evaluate(&output.bound, row)?);
        }
        self.run.rows.push(shown);
        Ok(())
    }

    pub(super) fn enter(&mut self, table: TableId) -> Result<Entered, Stop> {
        let Some(version) = self.run.progress.entering else {
            return Err(SqlError::new("XX000", "no version enters").into());
        };
        self.enter_indexes(table, version)?;
        self.run.progress.entering = None;
        Ok(Entered { version })
    }
}
