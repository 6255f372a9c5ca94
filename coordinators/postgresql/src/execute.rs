//! Executes statements. After [`Stop::Wait`], [`Execution::step`] resumes at the same row.

mod access;
mod checks;
mod definitions;
mod evaluate;
mod functions;
mod insert;
mod locking;
mod modify;
mod plan;
mod reading;
mod select;
pub(crate) mod transactions;
mod utility;

pub(crate) use plan::{Plan, Planned, plan};

use crate::core::Core;
use crate::error::SqlError;
use crate::session::Session;
use crate::sql::Parsed;
use crate::sql::ast::{Isolation, LockMode, Statement};
use crate::store::VersionId;
use crate::store::locks::Tag;
use crate::store::snapshot::Snapshot;
use crate::types::{Type, Value};
use std::collections::VecDeque;
use std::rc::Rc;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Stop {
    Wait,
    Sleep(u64),
    Flush(u64),
    Standby(u64),
    Error(Box<SqlError>),
}

impl From<SqlError> for Stop {
    fn from(error: SqlError) -> Stop {
        Stop::Error(Box::new(error))
    }
}

#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) statement: Rc<Parsed>,
    pub(crate) parameters: Vec<(Value, Type)>,
    pub(crate) planned: Option<Rc<Planned>>,
    snapshot: Option<Snapshot>,
    began: i64,
    memo: Vec<Value>,
    memo_at: usize,
    is_granted: bool,
    turn: Option<(Tag, LockMode)>,
    progress: Progress,
    pub(crate) rows: Vec<Vec<Value>>,
}

#[derive(Debug, Default)]
struct Progress {
    roots: VecDeque<VersionId>,
    targets: Option<Vec<VersionId>>,
    at: usize,
    current: Option<VersionId>,
    is_later: bool,
    entering: Option<VersionId>,
    values: Option<Vec<Value>>,
    count: u64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StatementResult {
    pub(crate) tag: String,
}

impl Run {
    pub(crate) fn new(statement: Rc<Parsed>, parameters: Vec<(Value, Type)>, wall: i64) -> Run {
        Run {
            statement,
            parameters,
            planned: None,
            snapshot: None,
            began: wall,
            memo: Vec::new(),
            memo_at: 0,
            is_granted: false,
            turn: None,
            progress: Progress::default(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn streams(&self) -> bool {
        matches!(self.statement.statement, Statement::Select(_))
    }
}

pub(crate) struct Execution<'r> {
    pub(crate) core: &'r mut Core,
    pub(crate) session: &'r mut Session,
    pub(crate) run: &'r mut Run,
}

impl Execution<'_> {
    pub(crate) fn step(&mut self) -> Result<StatementResult, Stop> {
        self.run.memo_at = 0;
        let outcome = self.resume();
        if matches!(outcome, Err(Stop::Error(_)))
            && let Some((tag, mode)) = self.run.turn.take()
        {
            let backend = self.session.backend;
            let span = crate::span::Span::Transaction;
            self.core.locks.release(backend, tag, mode, span);
        }
        if !matches!(outcome, Err(Stop::Wait | Stop::Sleep(_) | Stop::Flush(_) | Stop::Standby(_)))
        {
            self.end_statement();
        }
        outcome
    }

    fn resume(&mut self) -> Result<StatementResult, Stop> {
        let statement = self.run.statement.clone();
        if let Some(done) = self.utility(&statement.statement)? {
            return Ok(done);
        }
        if self.run.planned.is_none() {
            self.refuse_serializable()?;
            self.fix_snapshot();
            self.lock_tables(&statement.statement)?;
            let planned = self.plan()?;
            self.refuse_writes(&statement.statement)?;
            self.run.planned = Some(Rc::new(planned));
        }
        if let Some(open) = &mut self.session.transaction {
            open.has_looked = true;
        }
        if self.run.snapshot.is_none() {
            self.run.snapshot = Some(self.snapshot());
        }
        let Some(planned) = self.run.planned.clone() else {
            return Err(SqlError::new("XX000", "a statement without a plan").into());
        };
        match &planned.plan {
            Plan::Select(select) => self.select(select, planned.outputs.as_deref().unwrap_or(&[])),
            Plan::Insert(insert) => self.insert(insert, planned.outputs.as_deref()),
            Plan::Modify(modify) => self.modify(modify, planned.outputs.as_deref()),
            Plan::None => Err(SqlError::new("XX000", "a statement without a plan").into()),
        }
    }

    pub(crate) fn plan(&mut self) -> Result<Planned, Stop> {
        let types = self.run.parameters.iter().map(|(_, kind)| Some(*kind)).collect();
        let statement = self.run.statement.clone();
        let planned = plan(self.core, self.session.xid(), &statement.statement, types)?;
        for expression in planned.expressions() {
            self.check_constants(expression)?;
        }
        planned.check_conflict()?;
        Ok(planned)
    }

    fn snapshot(&mut self) -> Snapshot {
        self.fix_snapshot();
        let transaction = self.session.transaction.as_ref();
        let (own, command) = transaction.map_or((None, 0), |open| (open.xid, open.command));
        match transaction.and_then(|open| open.snapshot.as_ref()) {
            Some(first) => Snapshot { own, command, ..first.clone() },
            None => self.core.transactions.snapshot(self.session.backend, own, command),
        }
    }

    pub(super) fn fix_snapshot(&mut self) {
        let Some(open) = &mut self.session.transaction else { return };
        if open.isolation < Isolation::RepeatableRead || open.snapshot.is_some() {
            return;
        }
        let backend = self.session.backend;
        let snapshot = self.core.transactions.snapshot(backend, open.xid, open.command);
        if open.isolation == Isolation::Serializable {
            open.tracked = Some(self.core.serializable.begin(&snapshot, open.xid));
        }
        open.snapshot = Some(snapshot);
    }

    fn end_statement(&mut self) {
        if let Some(transaction) = &mut self.session.transaction {
            transaction.command += 1;
            if transaction.snapshot.is_some() {
                return;
            }
        }
        self.core.transactions.forget(self.session.backend);
    }

    fn end_part(&mut self) {
        self.run.memo.clear();
        self.run.memo_at = 0;
    }
}
