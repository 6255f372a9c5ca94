//! Executes SELECT, UPDATE and DELETE. Visits rows in key order, or one row if its key is given.

use super::assign::Slot;
use super::bind::{Scope, conjuncts, fields};
use super::evaluate::Row;
use super::{Changed, Context, Locked, Step, Target, column_definitions, intent, patience};
use crate::columns::of_table;
use crate::error::{Outcome, SqlError};
use crate::sql::expression::{Comparison, Expression, Item};
use crate::sql::table_ast::{Delete, Select, Strength, TableStatement, Update};
use crate::store::Store;
use crate::store::key::Key;
use crate::store::locks::{Extent, Mode, Place, Wanted};
use crate::store::rows::Values;
use crate::store::schema::{Definition, part};
use crate::store::transaction::Isolation;
use crate::value::Value;
use std::rc::Rc;

#[derive(Debug)]
pub(super) struct Scan {
    only: Option<Key>,
    condition: Option<Expression>,
    mode: Option<Mode>,
    action: Action,
    at: Option<Key>,
    is_over: bool,
    found: usize,
    changed: usize,
    rows: Vec<Vec<Value>>,
}

#[derive(Debug)]
enum Action {
    Read { items: Vec<Expression>, counts: bool, limit: Option<(u64, u64)> },
    Change(Vec<(usize, Expression)>),
    Delete,
}

pub(super) fn prepare(
    statement: &TableStatement,
    target: &mut Target,
    context: &mut Context<'_>,
) -> Outcome<(Option<Vec<Vec<u8>>>, Scan)> {
    let definition = Rc::clone(&target.definition);
    let scope = |called| Scope { definition: &definition, called, has_inserted: false };
    match statement {
        TableStatement::Select(select) => {
            let scope = scope(select.from.alias.as_deref().unwrap_or(&select.from.table.name));
            read(select, scope, target, context).map(|(shapes, scan)| (Some(shapes), scan))
        }
        TableStatement::Update(Update { table, set, condition }) => {
            let scope = scope(table.alias.as_deref().unwrap_or(&table.table.name));
            let set: Outcome<Vec<(usize, Expression)>> = set
                .iter()
                .map(|(named, value)| {
                    let place = scope.place(named, "SET")?;
                    if definition.key.contains(&place) {
                        return Err(SqlError::unsupported("a change to a primary key"));
                    }
                    Ok((place, scope.bind(value)?.0))
                })
                .collect();
            let action = Action::Change(set?);
            let scan = Scan::new(scope, condition.as_ref(), Some(Mode::Exclusive), action)?;
            context.session.no_index = scan.only.is_none();
            Ok((None, scan))
        }
        TableStatement::Delete(Delete { from, condition }) => {
            let (scope, mode) = (scope(&from.name), Some(Mode::Exclusive));
            let scan = Scan::new(scope, condition.as_ref(), mode, Action::Delete)?;
            context.session.no_index = scan.only.is_none();
            Ok((None, scan))
        }
        _ => Err(SqlError::unsupported("this statement")),
    }
}

fn read(
    select: &Select,
    scope: Scope<'_>,
    target: &mut Target,
    context: &mut Context<'_>,
) -> Outcome<(Vec<Vec<u8>>, Scan)> {
    let session = &mut *context.session;
    let all: Vec<Item>;
    let items = match &select.items {
        Some(items) => items,
        None => {
            all =
                scope.definition.columns.iter().map(|column| Item::column(&column.name)).collect();
            &all
        }
    };
    let counts = matches!(&items[..], [Item { expression: Expression::Count, .. }]);
    let (mut shapes, mut bound) = (Vec::new(), Vec::new());
    for item in items {
        let expression = match counts {
            true => Expression::Count,
            false => scope.bind(&item.expression)?.0,
        };
        let shape = of_table(&expression, scope.definition, scope.called, session)?;
        shapes.push((item.name.clone(), shape));
        bound.push(expression);
    }
    let mode = match select.lock {
        Some((Strength::Update, _)) => Some(Mode::Exclusive),
        Some((Strength::Share, _)) => Some(Mode::Shared),
        None if session.isolation == "SERIALIZABLE" && session.in_transaction => Some(Mode::Shared),
        None => None,
    };
    if let Some((_, wait)) = select.lock {
        target.patience = patience(wait, session);
    }
    let action = Action::Read { items: bound, counts, limit: select.limit };
    let mut scan = Scan::new(scope, select.condition.as_ref(), mode, action)?;
    let is_empty = select.limit.is_some_and(|(count, _)| count == 0);
    if is_empty && counts {
        return Err(SqlError::unsupported("COUNT with LIMIT 0"));
    }
    scan.is_over = is_empty;
    session.no_index = scan.only.is_none() && !is_empty;
    Ok((column_definitions(&shapes, session), scan))
}

impl Scan {
    fn new(
        scope: Scope<'_>,
        condition: Option<&Expression>,
        mode: Option<Mode>,
        action: Action,
    ) -> Outcome<Scan> {
        let condition = scope.condition(condition)?;
        let only = only(condition.as_ref(), scope.definition)?;
        Ok(Scan {
            only,
            condition,
            mode,
            action,
            at: None,
            is_over: false,
            found: 0,
            changed: 0,
            rows: Vec::new(),
        })
    }

    pub(super) fn take_rows(&mut self) -> Vec<Vec<Value>> {
        std::mem::take(&mut self.rows)
    }

    pub(super) fn is_of_one_row(&self) -> bool {
        self.only.is_some()
    }

    pub(super) fn resume(&mut self, target: &Target, context: &mut Context<'_>) -> Outcome<Step> {
        match self.mode {
            None => context.store.refresh_view(context.session.id),
            Some(mode) if !self.is_over => intent(mode, target, context),
            Some(_) => {}
        }
        while !self.is_over {
            let Some(key) = self.next(target, context.store) else {
                self.end(target, context)?;
                break;
            };
            let values = match self.mode {
                None => context.store.seen(context.session.id, target.id, &key),
                Some(mode) => match self.lock(&key, mode, target, context)? {
                    Read::Values(values) => values,
                    Read::Wait(micros) => return Ok(Step::Wait(micros)),
                },
            };
            if let Some(values) = values {
                self.take(&key, &values, target, context)?;
            }
            self.is_over |= self.only.is_some() || self.is_full();
            self.at = Some(key);
        }
        Ok(self.conclude(context))
    }

    fn next(&self, target: &Target, store: &Store) -> Option<Key> {
        let rows = &store.tables.get(&target.id)?.rows;
        match &self.only {
            Some(key) => rows.0.contains_key(key).then(|| key.clone()),
            None => rows.after(self.at.as_ref()).cloned(),
        }
    }

    fn end(&mut self, target: &Target, context: &mut Context<'_>) -> Outcome<()> {
        let Some(mode) = self.mode.filter(|_| self.isolation(context).locks_gaps()) else {
            return Ok(());
        };
        let (place, extent) = match &self.only {
            Some(key) => (context.store.next_place(target.id, key), Extent::Gap),
            None => (Place::End, Extent::Both),
        };
        let wanted = Wanted { by: context.session.id, table: target.id, place, mode, extent };
        target.lock(context.store, wanted).map(drop)
    }

    fn isolation(&self, context: &Context<'_>) -> Isolation {
        Isolation::named(context.session.isolation)
    }

    fn lock(
        &mut self,
        key: &Key,
        mode: Mode,
        target: &Target,
        context: &mut Context<'_>,
    ) -> Outcome<Read> {
        let locks_gaps = self.isolation(context).locks_gaps();
        let extent = match locks_gaps && self.only.is_none() {
            true => Extent::Both,
            false => Extent::Row,
        };
        let place = Place::Row(key.clone());
        let wanted = Wanted { by: context.session.id, table: target.id, place, mode, extent };
        // Without gap locks, a row with a committed deletion counts as missing, and needs no lock.
        if !locks_gaps
            && context.store.changer(target.id, &wanted.place).is_none()
            && context.store.committed(target.id, key).is_none()
        {
            return Ok(Read::Values(None));
        }
        let is_change = matches!(self.action, Action::Change(_));
        if is_change && !locks_gaps && self.only.is_none() {
            // A semi-consistent read skips a locked row whose committed version does not match.
            let is_taken = matches!(
                context.store.ask(&mut wanted.clone()),
                crate::store::transaction::Answer::Blocked(_)
            );
            if is_taken {
                let values = context.store.committed(target.id, key);
                let holds = match values {
                    Some(values) => self.holds(&values, target, context)?,
                    None => false,
                };
                if !holds {
                    return Ok(Read::Values(None));
                }
            }
        }
        let is_new = match target.lock(context.store, wanted.clone())? {
            Locked::Had { is_new } => is_new,
            Locked::Wait(micros) => return Ok(Read::Wait(micros)),
            Locked::Passed => {
                // As in the real server, also lock the gap before the next row if the isolation
                // level locks gaps.
                if self.only.is_some() {
                    self.end(target, context)?;
                }
                return Ok(Read::Values(None));
            }
        };
        let rows = context.store.tables.get(&target.id).map(|table| &table.rows);
        let values = rows.and_then(|rows| rows.newest(key)).and_then(|one| one.values.clone());
        let values = match values {
            Some(values) if self.holds(&values, target, context)? => {
                return Ok(Read::Values(Some(values)));
            }
            other => other,
        };
        // As in the real server, a query for one row keeps its lock even if the row does not match.
        let keeps = self.only.is_some() && matches!(self.action, Action::Read { .. });
        let is_kept = keeps && values.is_some();
        let is_own = context.store.changer(target.id, &wanted.place) == Some(wanted.by);
        if is_new && !locks_gaps && !is_kept && !is_own {
            context.store.locks.release(&wanted);
            context.store.wake();
        }
        Ok(Read::Values(None))
    }

    fn holds(&self, values: &Values, target: &Target, context: &Context<'_>) -> Outcome<bool> {
        row(values, target, context).holds(self.condition.as_ref())
    }

    fn take(
        &mut self,
        key: &Key,
        values: &Values,
        target: &Target,
        context: &mut Context<'_>,
    ) -> Outcome<()> {
        if self.mode.is_none() && !self.holds(values, target, context)? {
            return Ok(());
        }
        self.found += 1;
        let session = context.session.id;
        match &self.action {
            Action::Read { items, counts, limit } => {
                let offset = limit.map_or(0, |(_, offset)| offset);
                if !counts && self.found as u64 > offset {
                    let row = row(values, target, context);
                    let read: Outcome<Vec<Value>> =
                        items.iter().map(|item| row.evaluate(item)).collect();
                    self.rows.push(read?);
                }
            }
            Action::Change(set) => {
                let new = changed(set, values, &[], target, self.found, session)?;
                if new != **values {
                    self.changed += 1;
                    context.store.write(session, target.id, key.clone(), Some(Rc::new(new)));
                }
            }
            Action::Delete => {
                self.changed += 1;
                context.store.write(session, target.id, key.clone(), None);
            }
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        match &self.action {
            Action::Read { limit: Some((count, _)), counts: false, .. } => {
                self.rows.len() as u64 >= *count
            }
            _ => false,
        }
    }

    fn conclude(&mut self, context: &Context<'_>) -> Step {
        let (found, changed) = (self.found, self.changed);
        match &self.action {
            Action::Read { counts: true, limit, .. } => {
                let count = vec![Value::Integer(found as i128)];
                let is_passed = limit.is_some_and(|(_, offset)| offset > 0);
                Step::Rows(if is_passed { Vec::new() } else { vec![count] })
            }
            Action::Read { .. } => Step::Rows(self.take_rows()),
            Action::Change(_) => {
                let affected = if context.session.counts_found { found } else { changed };
                let info = format!("Rows matched: {found}  Changed: {changed}  Warnings: 0");
                Step::Changed(Changed { affected, info: Some(info) })
            }
            Action::Delete => Step::Changed(Changed { affected: changed, info: None }),
        }
    }
}

enum Read {
    Values(Option<Values>),
    Wait(i128),
}

fn row<'r>(values: &'r [Value], target: &Target, context: &Context<'_>) -> Row<'r> {
    Row { values, inserted: &[], now: target.now, session: context.session.id }
}

pub(super) fn changed(
    set: &[(usize, Expression)],
    values: &[Value],
    inserted: &[Value],
    target: &Target,
    number: usize,
    session: u32,
) -> Outcome<Vec<Value>> {
    let mut new = values.to_vec();
    for (place, expression) in set {
        let row = Row { values: &new, inserted, now: target.now, session };
        let value = row.evaluate(expression)?;
        let slot =
            Slot { definition: &target.definition, place: *place, row: number, now: target.now };
        if value == Value::Null && !target.definition.columns[*place].is_nullable {
            let column = &target.definition.columns[*place].name;
            let message = format!("Column '{column}' cannot be null");
            return Err(SqlError::new(1048, "23000", message));
        }
        new[*place] = slot.assign(value)?;
    }
    Ok(new)
}

fn only(condition: Option<&Expression>, definition: &Definition) -> Outcome<Option<Key>> {
    let Some(condition) = condition else { return Ok(None) };
    let mut parts = Vec::new();
    conjuncts(condition, &mut parts);
    let (mut equal, mut others) = (Vec::new(), Vec::new());
    for one in parts {
        let mut own = Vec::new();
        fields(one, &mut own);
        if own.is_empty() || is_known(one, definition) {
            return Err(SqlError::unsupported("a condition that is always true or always false"));
        }
        match equality(one) {
            Some((place, value)) => equal.push((place, value)),
            None => others.extend(own),
        }
    }
    let is_twice = |at: usize| {
        let (place, _) = equal[at];
        others.contains(&place) || equal[..at].iter().any(|(other, _)| *other == place)
    };
    if (0..equal.len()).any(is_twice) {
        return Err(SqlError::unsupported("several conditions on one column"));
    }
    let value_of = |place: &usize| equal.iter().find(|(other, _)| other == place).map(|one| one.1);
    let key: Option<Vec<&Value>> = definition.key.iter().map(value_of).collect();
    if let Some(key) = key {
        return key.into_iter().map(part).collect::<Outcome<Key>>().map(Some);
    }
    let first = definition.key[0];
    if others.contains(&first) || value_of(&first).is_some() {
        return Err(SqlError::unsupported("a range over the primary key"));
    }
    Ok(None)
}

fn is_known(condition: &Expression, definition: &Definition) -> bool {
    let is_null = |one: &Expression| *one == Expression::Literal(Value::Null);
    match condition {
        Expression::Compare(_, left, right) => is_null(left) || is_null(right),
        Expression::IsNull(inner, _) => match **inner {
            Expression::Field(place) => !definition.columns[place].is_nullable,
            _ => true,
        },
        Expression::Not(inner) => is_known(inner, definition),
        Expression::Or(parts) | Expression::And(parts) => {
            let has_none = |one: &Expression| {
                let mut own = Vec::new();
                fields(one, &mut own);
                own.is_empty()
            };
            parts.iter().any(|side| is_known(side, definition) || has_none(side))
        }
        _ => false,
    }
}

fn equality(condition: &Expression) -> Option<(usize, &Value)> {
    let Expression::Compare(Comparison::Equal, left, right) = condition else {
        return match condition {
            Expression::In(one, others) => match (&**one, &others[..]) {
                (Expression::Field(place), [Expression::Literal(value)]) => Some((*place, value)),
                _ => None,
            },
            _ => None,
        };
    };
    match (&**left, &**right) {
        (Expression::Field(place), Expression::Literal(value))
        | (Expression::Literal(value), Expression::Field(place)) => Some((*place, value)),
        _ => None,
    }
}
