//! The simple query protocol. By default, the statements of one query are one transaction.

use super::{Client, Job};
use crate::core::Core;
use crate::error::SqlError;
use crate::execute::{Execution, Run, StatementResult, Stop, transactions};
use crate::session::Session;
use crate::sql::ast::{Statement, TransactionStatement};
use crate::sql::{self, Parsed};
use crate::wire::{self, Body};
use std::collections::VecDeque;
use std::rc::Rc;

#[derive(Debug)]
pub(super) struct Query {
    statements: VecDeque<Rc<Parsed>>,
    run: Option<Run>,
    has_columns: bool,
    done: Option<StatementResult>,
}

pub(super) fn check_failed(session: &Session, statement: &Statement) -> Result<(), SqlError> {
    let has_failed = session.transaction.as_ref().is_some_and(|open| open.has_failed);
    let ends = matches!(
        statement,
        Statement::Transaction(TransactionStatement::Commit | TransactionStatement::Rollback)
    );
    if !has_failed || ends {
        return Ok(());
    }
    let message = "current transaction is aborted, commands ignored until end of transaction block";
    Err(SqlError::new("25P02", message))
}

impl Client {
    pub(super) fn begin_query(&mut self, core: &mut Core, mut body: Body) {
        self.commands += 1;
        let text = body.string().and_then(|text| body.end().map(|()| text));
        self.session.prepared.remove("");
        self.portals.remove("");
        let statements = match text.and_then(|text| sql::parse(&text)) {
            Ok(statements) => statements,
            Err(error) => {
                self.fail(core, &error);
                return self.ready(core);
            }
        };
        if statements.is_empty() {
            wire::message(&mut self.out, b'I', |_| {});
        }
        let statements = statements.into_iter().map(Rc::new).collect();
        let query = Query { statements, run: None, has_columns: false, done: None };
        self.job = Some(Job::Query(Box::new(query)));
        self.advance(core);
    }

    pub(super) fn resume(&mut self, core: &mut Core, query: &mut Query) -> Result<(), Stop> {
        while let Some(statement) = query.statements.front().cloned() {
            if query.done.is_none() {
                self.begin_statement(core, query, &statement)?;
                let Some(run) = &mut query.run else { break };
                let mut execution = Execution { core, session: &mut self.session, run };
                let outcome = execution.step();
                let streams = run.streams();
                if streams {
                    self.show_columns(query);
                }
                self.send_notices();
                if streams || outcome.is_ok() {
                    self.show_rows(query);
                }
                query.done = Some(outcome?);
            }
            let is_last = query.statements.len() == 1;
            let is_block = self.session.transaction.as_ref().is_some_and(|open| open.is_block);
            if is_last && !is_block {
                transactions::commit(core, &mut self.session)?;
            }
            if let Some(done) = query.done.take() {
                wire::text(&mut self.out, b'C', &done.tag);
            }
            query.statements.pop_front();
            (query.run, query.has_columns) = (None, false);
        }
        self.ready(core);
        Ok(())
    }

    fn begin_statement(
        &mut self,
        core: &mut Core,
        query: &mut Query,
        statement: &Rc<Parsed>,
    ) -> Result<(), Stop> {
        if query.run.is_some() {
            return Ok(());
        }
        check_failed(&self.session, &statement.statement)?;
        transactions::ensure(core, &mut self.session);
        self.start_clock(core);
        query.run = Some(Run::new(statement.clone(), Vec::new(), core.now.wall.0));
        Ok(())
    }

    pub(super) fn start_clock(&mut self, core: &Core) {
        let span = self.session.settings.span("statement_timeout");
        self.timers.statement = span.map(|span| core.now.monotonic.0 + span);
    }

    fn show_columns(&mut self, query: &mut Query) {
        let planned = query.run.as_ref().and_then(|run| run.planned.as_ref());
        let outputs = planned.and_then(|planned| planned.outputs.as_deref());
        if let (Some(outputs), false) = (outputs, query.has_columns) {
            wire::row_description(&mut self.out, outputs, &[]);
            query.has_columns = true;
        }
    }

    fn show_rows(&mut self, query: &mut Query) {
        self.show_columns(query);
        let Some(run) = &mut query.run else { return };
        let Some(planned) = run.planned.clone() else { return };
        let Some(outputs) = &planned.outputs else { return };
        for row in run.rows.drain(..) {
            let _ = wire::data_row(&mut self.out, &row, outputs, &[]);
        }
    }
}
