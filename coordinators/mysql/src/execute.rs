//! Executes statements on tables row by row. A [`Run`] can stop at a locked row and resume later.

mod assign;
mod bind;
mod definitions;
mod evaluate;
mod insert;
mod scan;

use crate::columns::{Origin, Shape};
use crate::error::{Outcome, SqlError};
use crate::session::Session;
use crate::sql::expression::Named;
use crate::sql::table_ast::{LockWait, TableStatement};
use crate::store::locks::{Mode, Wanted};
use crate::store::schema::Definition;
use crate::store::transaction::{Answer, Isolation};
use crate::store::{Store, TableId, TableName};
use crate::timestamp::Instant;
use crate::value::Value;
use fencepost_machine::Now;
use insert::Insertion;
use scan::Scan;
use std::rc::Rc;

pub(crate) use definitions::is_definition;
pub(crate) use evaluate::later;

pub(crate) enum Prepared {
    Done { affected: usize },
    Run(Option<Vec<Vec<u8>>>, Box<Run>),
}

#[derive(Debug)]
pub(crate) struct Run {
    target: Target,
    work: Work,
}

#[derive(Debug)]
struct Target {
    id: TableId,
    definition: Rc<Definition>,
    now: Instant,
    /// Longest wait for a row lock, in microseconds. `None` skips locked rows (SKIP LOCKED).
    patience: Option<i128>,
}

#[derive(Debug)]
enum Work {
    Scan(Scan),
    Insert(Insertion),
}

pub(crate) struct Context<'c> {
    pub(crate) store: &'c mut Store,
    pub(crate) session: &'c mut Session,
}

#[derive(Debug)]
pub(crate) enum Step {
    Rows(Vec<Vec<Value>>),
    Changed(Changed),
    Wait(i128),
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Changed {
    pub(crate) affected: usize,
    pub(crate) info: Option<String>,
}

type SelectedColumn = (Shape, Option<Origin>);

enum Locked {
    Had { is_new: bool },
    Wait(i128),
    Passed,
}

impl Run {
    pub(crate) fn sends_columns_first(&self) -> bool {
        !matches!(&self.work, Work::Scan(scan) if scan.is_of_one_row())
    }

    pub(crate) fn take_rows(&mut self) -> Vec<Vec<Value>> {
        match &mut self.work {
            Work::Scan(scan) => scan.take_rows(),
            Work::Insert(_) => Vec::new(),
        }
    }

    pub(crate) fn resume(&mut self, context: &mut Context<'_>) -> Outcome<Step> {
        match &mut self.work {
            Work::Scan(scan) => scan.resume(&self.target, context),
            Work::Insert(insertion) => insertion.resume(&self.target, context),
        }
    }
}

impl Target {
    fn lock(&self, store: &mut Store, mut wanted: Wanted) -> Outcome<Locked> {
        let other = match store.ask(&mut wanted) {
            Answer::Had { is_new } => {
                if is_new {
                    store.locks.add_lock(wanted);
                }
                return Ok(Locked::Had { is_new });
            }
            Answer::Blocked(other) => other,
        };
        self.wait(store, wanted, other)
    }

    fn wait(&self, store: &mut Store, wanted: Wanted, other: u32) -> Outcome<Locked> {
        match self.patience {
            None => Ok(Locked::Passed),
            Some(0) => Err(SqlError::waited_too_long()),
            Some(micros) => match store.wait(wanted, other) {
                true => Ok(Locked::Wait(micros)),
                false => Err(SqlError::deadlock()),
            },
        }
    }
}

fn whole(named: &Named, session: &Session) -> Outcome<TableName> {
    let database = named.before.clone().or_else(|| session.database.clone());
    Ok((database.ok_or_else(SqlError::no_database)?, named.name.clone()))
}

pub(crate) fn prepare(
    statement: &TableStatement,
    context: &mut Context<'_>,
    now: Now,
) -> Outcome<Prepared> {
    let now = Instant { micros: context.session.instant(now.wall.0), places: 6 };
    let named = match statement {
        TableStatement::Select(select) => &select.from.table,
        TableStatement::Insert(insert) => &insert.table,
        TableStatement::Update(update) => &update.table.table,
        TableStatement::Delete(delete) => &delete.from,
        other => {
            return definitions::define(other, context).map(|affected| Prepared::Done { affected });
        }
    };
    let target = open(named, context, now)?;
    match statement {
        TableStatement::Insert(insert) => {
            let insertion = insert::prepare(insert, &target, context.session)?;
            Ok(Prepared::Run(None, Box::new(Run { target, work: Work::Insert(insertion) })))
        }
        other => {
            let mut target = target;
            let (shapes, scan) = scan::prepare(other, &mut target, context)?;
            Ok(Prepared::Run(shapes, Box::new(Run { target, work: Work::Scan(scan) })))
        }
    }
}

fn open(named: &Named, context: &mut Context<'_>, now: Instant) -> Outcome<Target> {
    let Context { store, session } = context;
    let id = store.find(&whole(named, session)?)?;
    session.in_transaction |= !session.variables.autocommit;
    store.begin(session.id, Isolation::named(session.isolation), id);
    let definition = store.tables.get(&id).map(|table| Rc::clone(&table.definition));
    let definition =
        definition.ok_or_else(|| SqlError::unsupported("a table that no longer exists"))?;
    let patience = Some(session.variables.row_wait_us());
    Ok(Target { id, definition, now, patience })
}

fn patience(patience: LockWait, session: &Session) -> Option<i128> {
    match patience {
        LockWait::Usual => Some(session.variables.row_wait_us()),
        LockWait::Seconds(seconds) => Some(i128::from(seconds) * 1_000_000),
        LockWait::Skip => None,
    }
}

fn column_definitions(shapes: &[(Vec<u8>, SelectedColumn)], session: &Session) -> Vec<Vec<u8>> {
    let one = |(name, (shape, origin)): &(Vec<u8>, SelectedColumn)| {
        shape.column_of(name, origin.as_ref(), session)
    };
    shapes.iter().map(one).collect()
}

fn intent(mode: Mode, target: &Target, context: &mut Context<'_>) {
    context.store.intend(context.session.id, target.id, mode);
}
