//! Executes INSERT. It locks an existing row with the same key, or waits for gap locks.

use super::assign::Slot;
use super::bind::Scope;
use super::evaluate::Row;
use super::scan::changed;
use super::{Changed, Context, Locked, Step, Target, intent};
use crate::error::{Outcome, SqlError};
use crate::session::Session;
use crate::sql::expression::Expression;
use crate::sql::table_ast::Insert;
use crate::store::key::Key;
use crate::store::locks::{Extent, Mode, Place, Wanted};
use crate::store::rows::Values;
use crate::store::schema::Definition;
use crate::store::transaction::Answer;
use crate::value::Value;
use std::rc::Rc;

#[derive(Debug)]
pub(super) struct Insertion {
    rows: Vec<Vec<Expression>>,
    ignores: bool,
    on_duplicate: Vec<(usize, Expression)>,
    at: usize,
    inserted: usize,
    updated: usize,
    touched: usize,
}

enum Progress {
    Done,
    Wait(i128),
}

pub(super) fn prepare(
    insert: &Insert,
    target: &Target,
    session: &mut Session,
) -> Outcome<Insertion> {
    let definition = &*target.definition;
    let scope = Scope { definition, called: &insert.table.name, has_inserted: false };
    let places = places(insert, scope)?;
    let mut rows = Vec::new();
    for (number, row) in insert.rows.iter().enumerate() {
        let is_empty = row.is_empty() && insert.columns.as_ref().is_none_or(Vec::is_empty);
        if row.len() != places.len() && !is_empty {
            let row = number + 1;
            let message = format!("Column count doesn't match value count at row {row}");
            return Err(SqlError::new(1136, "21S01", message));
        }
        rows.push(values(row, &places, scope)?);
    }
    let with_inserted = Scope { has_inserted: true, ..scope };
    let mut on_duplicate = Vec::new();
    for (named, value) in &insert.on_duplicate {
        let place = scope.place(named, "UPDATE")?;
        if definition.key.contains(&place) {
            return Err(SqlError::unsupported("a change to a primary key"));
        }
        on_duplicate.push((place, with_inserted.bind(value)?.0));
    }
    session.no_index = false;
    let ignores = insert.ignores;
    Ok(Insertion { rows, ignores, on_duplicate, at: 0, inserted: 0, updated: 0, touched: 0 })
}

fn places(insert: &Insert, scope: Scope<'_>) -> Outcome<Vec<usize>> {
    let Some(columns) = &insert.columns else {
        return Ok((0..scope.definition.columns.len()).collect());
    };
    let mut places = Vec::new();
    for named in columns {
        let place = scope.place(named, "INSERT INTO")?;
        if places.contains(&place) {
            let message = format!("Column '{}' specified twice", named.name);
            return Err(SqlError::new(1110, "42000", message));
        }
        places.push(place);
    }
    Ok(places)
}

fn values(
    row: &[Option<Expression>],
    places: &[usize],
    scope: Scope<'_>,
) -> Outcome<Vec<Expression>> {
    let definition = scope.definition;
    let mut told = vec![None; definition.columns.len()];
    for (place, value) in places.iter().zip(row) {
        let Some(value) = value else { continue };
        let (bound, _) = scope.bind(value)?;
        let mut own = Vec::new();
        super::bind::fields(&bound, &mut own);
        if !own.is_empty() {
            return Err(SqlError::unsupported("a column as a value in VALUES"));
        }
        told[*place] = Some(bound);
    }
    let columns = definition.columns.iter().zip(told);
    columns
        .map(|(column, value)| {
            value.or_else(|| column.default_expression()).ok_or_else(|| {
                let message = format!("Field '{}' doesn't have a default value", column.name);
                SqlError::new(1364, "HY000", message)
            })
        })
        .collect()
}

impl Insertion {
    pub(super) fn resume(&mut self, target: &Target, context: &mut Context<'_>) -> Outcome<Step> {
        if let Some(transaction) = context.store.transactions.get_mut(&context.session.id) {
            transaction.replaces = !self.on_duplicate.is_empty();
        }
        while self.at < self.rows.len() {
            let values = self.row(target, context.session)?;
            let key = target.definition.key_of(&values)?;
            intent(Mode::Exclusive, target, context);
            if let Progress::Wait(micros) = self.insert(key, &Rc::new(values), target, context)? {
                return Ok(Step::Wait(micros));
            }
            self.at += 1;
        }
        Ok(self.conclude(context.session))
    }

    fn row(&self, target: &Target, session: &Session) -> Outcome<Vec<Value>> {
        let definition: &Definition = &target.definition;
        let mut values = Vec::new();
        for (place, expression) in self.rows[self.at].iter().enumerate() {
            let row = Row { values: &[], inserted: &[], now: target.now, session: session.id };
            let slot = Slot { definition, place, row: self.at + 1, now: target.now };
            let value = slot.assign(row.evaluate(expression)?);
            values.push(match value {
                Err(_) if self.ignores => {
                    return Err(SqlError::unsupported("IGNORE with a value that does not fit"));
                }
                value => value?,
            });
        }
        Ok(values)
    }

    fn insert(
        &mut self,
        key: Key,
        values: &Values,
        target: &Target,
        context: &mut Context<'_>,
    ) -> Outcome<Progress> {
        let (by, table) = (context.session.id, target.id);
        let is_there =
            context.store.tables.get(&table).is_some_and(|table| table.rows.0.contains_key(&key));
        if is_there {
            return self.replace(key, values, target, context);
        }
        let place = context.store.next_place(table, &key);
        let (mode, extent) = (Mode::Exclusive, Extent::Insertion);
        let wanted = Wanted { by, table, place, mode, extent };
        if let Some(other) = context.store.locks.conflicting_session(&wanted)
            && let Locked::Wait(micros) = target.wait(context.store, wanted, other)?
        {
            return Ok(Progress::Wait(micros));
        }
        context.store.write(by, table, key, Some(Rc::clone(values)));
        self.inserted += 1;
        Ok(Progress::Done)
    }

    fn replace(
        &mut self,
        key: Key,
        values: &Values,
        target: &Target,
        context: &mut Context<'_>,
    ) -> Outcome<Progress> {
        let (by, table) = (context.session.id, target.id);
        let mode = if self.on_duplicate.is_empty() { Mode::Shared } else { Mode::Exclusive };
        let place = Place::Row(key.clone());
        let wanted = Wanted { by, table, place, mode, extent: Extent::Row };
        if let Locked::Wait(micros) = target.lock(context.store, wanted.clone())? {
            return Ok(Progress::Wait(micros));
        }
        let rows = context.store.tables.get(&table).map(|table| &table.rows);
        let there = rows.and_then(|rows| rows.newest(&key)).and_then(|one| one.values.clone());
        let Some(there) = there else {
            // The row is deleted, but another transaction may still have a lock on it.
            let mut wanted = Wanted { mode: Mode::Exclusive, ..wanted };
            if let Answer::Blocked(other) = context.store.ask(&mut wanted)
                && let Locked::Wait(micros) = target.wait(context.store, wanted, other)?
            {
                return Ok(Progress::Wait(micros));
            }
            context.store.write(by, table, key, Some(Rc::clone(values)));
            self.inserted += 1;
            return Ok(Progress::Done);
        };
        if !self.on_duplicate.is_empty() {
            self.touched += 1;
            let number = self.at + 1;
            let new = changed(&self.on_duplicate, &there, values, target, number, by)?;
            if new != *there {
                self.updated += 1;
                context.store.write(by, table, key, Some(Rc::new(new)));
            }
            return Ok(Progress::Done);
        }
        let error = duplicate(&target.definition, values);
        context.session.warn_or(error, self.ignores)?;
        Ok(Progress::Done)
    }

    fn conclude(&self, session: &Session) -> Step {
        let records = self.rows.len();
        let duplicates =
            if self.ignores { records - self.inserted - self.updated } else { self.updated };
        let more = if session.counts_found { self.touched } else { self.updated };
        let affected = self.inserted + self.updated + more;
        let warnings = session.warnings;
        let info = (records > 1)
            .then(|| format!("Records: {records}  Duplicates: {duplicates}  Warnings: {warnings}"));
        Step::Changed(Changed { affected, info })
    }
}

fn duplicate(definition: &Definition, values: &[Value]) -> SqlError {
    let parts = definition.key.iter().map(|place| values[*place].text().unwrap_or_default());
    let shown = parts.collect::<Vec<Vec<u8>>>().join(&b"-"[..]);
    let message = [b"Duplicate entry '", &shown[..], b"' for key 'PRIMARY'"].concat();
    SqlError::new(1062, "23000", message)
}
