use super::checks::check_not_null;
use super::evaluate::Row;
use super::locking::serialization;
use super::plan::{ConflictPlan, InsertPlan};
use super::{Execution, StatementResult, Stop};
use crate::bound::{Bound, Output};
use crate::error::{About, SqlError};
use crate::sql::ast::Policy;
use crate::store::rows::Standing;
use crate::store::serializable::Target;
use crate::store::table::Definition;
use crate::store::transaction::Undo;
use crate::store::{TableId, VersionId, Xid};
use crate::types::Value;

#[derive(Clone, Copy, Debug)]
pub(super) struct Entered {
    pub(super) version: VersionId,
}

enum Rival {
    Running(Xid),
    Live(VersionId),
}

impl Execution<'_> {
    pub(super) fn insert(
        &mut self,
        plan: &InsertPlan,
        outputs: Option<&[Output]>,
    ) -> Result<StatementResult, Stop> {
        while let Some(row) = plan.rows.get(self.run.progress.at) {
            self.insert_one(plan, row, outputs)?;
            self.run.progress.at += 1;
            self.run.progress.values = None;
            self.run.progress.current = None;
            self.end_part();
        }
        Ok(StatementResult { tag: format!("INSERT 0 {}", self.run.progress.count) })
    }

    fn insert_one(
        &mut self,
        plan: &InsertPlan,
        row: &[Option<Bound>],
        outputs: Option<&[Output]>,
    ) -> Result<(), Stop> {
        let table = plan.table;
        if self.run.progress.entering.is_none() {
            let values = match self.run.progress.values.clone() {
                Some(values) => values,
                None => self.new_row(table, row)?,
            };
            self.run.progress.values = Some(values.clone());
            if let Some(conflict) = &plan.conflict
                && !self.wait_for_rival(table, conflict, &values)?
            {
                return Ok(());
            }
            if self.run.progress.entering.is_none() {
                self.check_readers(&[Target::Table(table)])?;
                let version = self.add_version(table, values);
                self.run.progress.entering = Some(version);
            }
        }
        let entered = self.enter(table)?;
        self.run.progress.count += 1;
        let values = self.values(table, entered.version);
        self.give(outputs, Row::of(&values))
    }

    fn new_row(&mut self, table: TableId, row: &[Option<Bound>]) -> Result<Vec<Value>, Stop> {
        let mut values = Vec::new();
        for (column, value) in row.iter().enumerate() {
            values.push(match value {
                Some(value) => self.evaluate(value, Row::default())?,
                None => self.default(table, column)?,
            });
        }
        if let Some(definition) = self.core.heap.get(table) {
            check_not_null(definition, &values)?;
        }
        Ok(values)
    }

    pub(super) fn default(&mut self, table: TableId, column: usize) -> Result<Value, Stop> {
        let definition = self.core.heap.get(table);
        match definition.and_then(|definition| definition.columns[column].default.clone()) {
            Some(bound) => self.evaluate(&bound, Row::default()),
            None => Ok(Value::Null),
        }
    }

    pub(super) fn add_version(&mut self, table: TableId, values: Vec<Value>) -> VersionId {
        let xid = self.own_xid();
        let command = self.session.transaction.as_ref().map_or(0, |open| open.command);
        let version = self.core.heap.insert(table, values, (xid, command));
        if let Some(transaction) = &mut self.session.transaction {
            transaction.undo.push(Undo::Inserted(table, version));
        }
        version
    }

    fn rival(
        &self,
        table: &Definition,
        index: usize,
        values: &[Value],
        but: Option<VersionId>,
    ) -> Option<Rival> {
        let own = self.session.xid();
        let is_running = |xid| Some(xid) != own && self.core.transactions.is_running(xid);
        let key = Definition::key(&table.indexes[index], values);
        let rivals = self.core.heap.rivals(table, index, &key, but);
        rivals.into_iter().find_map(|id| {
            let version = table.versions.get(&id)?;
            if is_running(version.made.0) {
                return Some(Rival::Running(version.made.0));
            }
            match version.ended {
                Some(ended) if is_running(ended.by) => Some(Rival::Running(ended.by)),
                Some(_) => None,
                None => Some(Rival::Live(id)),
            }
        })
    }

    pub(super) fn enter_indexes(&mut self, table: TableId, version: VersionId) -> Result<(), Stop> {
        let values = self.values(table, version);
        loop {
            let Some(definition) = self.core.heap.get(table) else { return Ok(()) };
            let known = definition.versions.get(&version).map_or(0, |version| version.indexed);
            if known == definition.indexes.len() {
                return Ok(());
            }
            let leaf = [Target::Leaf(table, known)];
            match self.rival(definition, known, &values, Some(version)) {
                Some(Rival::Running(xid)) => return Err(self.await_end(xid)),
                Some(Rival::Live(_)) => {
                    let error = duplicate(definition, known, &values);
                    self.check_readers(&leaf)?;
                    return Err(error.into());
                }
                None => {}
            }
            self.check_readers(&leaf)?;
            if let Some(version) = self.core.heap.version_mut(table, version) {
                version.indexed = known + 1;
            }
        }
    }

    fn wait_for_rival(
        &mut self,
        table: TableId,
        plan: &ConflictPlan,
        values: &[Value],
    ) -> Result<bool, Stop> {
        loop {
            let Some(definition) = self.core.heap.get(table) else { return Ok(true) };
            let find = |index: &usize| self.rival(definition, *index, values, None);
            let live = match plan.indexes.iter().find_map(find) {
                None => return Ok(true),
                Some(Rival::Running(xid)) => return Err(self.await_end(xid)),
                Some(Rival::Live(live)) => live,
            };
            let is_seen = self.sees(table, live);
            let Some((assignments, condition)) = &plan.update else {
                self.read_rival(table, live)?;
                if !is_seen && self.is_strict() {
                    return Err(serialization("update").into());
                }
                return Ok(false);
            };
            match self.take_row_lock(table, live, plan.strength, Policy::Wait)? {
                Standing::Free => {}
                Standing::Deleted | Standing::Replaced(_) if self.is_strict() => {
                    return Err(serialization("update").into());
                }
                _ => continue,
            }
            if self.is_own_work(table, live) {
                return Err(duplicate_row_error().into());
            }
            if !is_seen && self.is_strict() {
                return Err(serialization("update").into());
            }
            self.lock_version(table, live, plan.strength);
            let old = self.values(table, live);
            let row = Row { own: &old, excluded: values, counts: &[] };
            if !self.passes(condition.as_ref(), row)? {
                return Ok(false);
            }
            let changed = self.assigned(table, assignments, row)?;
            self.replace(table, live, changed, plan.strength)?;
            return Ok(true);
        }
    }

    fn is_own_work(&self, table: TableId, version: VersionId) -> bool {
        let Some(transaction) = &self.session.transaction else { return false };
        let made = self.core.heap.version(table, version).map(|version| version.made);
        made.is_some_and(|made| made.1 == transaction.command && Some(made.0) == transaction.xid)
    }

    fn sees(&self, table: TableId, version: VersionId) -> bool {
        self.seen(table).contains(&version) || self.is_own_work(table, version)
    }
}

fn duplicate_row_error() -> SqlError {
    let message = "ON CONFLICT DO UPDATE command cannot affect row a second time";
    let hint = "Ensure that no rows proposed for insertion within the same command have duplicate \
                constrained values.";
    SqlError::new("21000", message).hint(hint)
}

fn duplicate(table: &Definition, index: usize, values: &[Value]) -> SqlError {
    let index = &table.indexes[index];
    let names = index.columns.iter().map(|at| table.columns[*at].name.as_str());
    let texts = index.columns.iter().map(|at| {
        let kind = table.columns[*at].kind;
        values[*at].text(kind).unwrap_or_else(|| "null".to_owned())
    });
    let (names, texts): (Vec<&str>, Vec<String>) = (names.collect(), texts.collect());
    let message = format!("duplicate key value violates unique constraint \"{}\"", index.name);
    let detail = format!("Key ({})=({}) already exists.", names.join(", "), texts.join(", "));
    let about = About {
        table: Some(table.name.clone()),
        column: None,
        constraint: Some(index.name.clone()),
    };
    SqlError::new("23505", message).detail(detail).about(about)
}
