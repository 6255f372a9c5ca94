use super::{Client, Core, Wait, Wake};
use crate::columns::{Shape, shape};
use crate::error::{Outcome, SqlError};
use crate::execute::{self, Changed, Context, Prepared, is_definition};
use crate::packet::{Reply, Status, put_length, put_text};
use crate::run::{Run, Step};
use crate::session::Session;
use crate::sql::ast::Statement;
use crate::sql::expression::{Assignment, Expression, Item};
use crate::sql::table_ast::TableStatement;
use crate::sql::{Parsed, parse, rest, wrong};
use crate::value::Value;
use crate::variables::Change;

#[derive(Debug)]
pub(crate) struct Job {
    text: Vec<u8>,
    next: usize,
    reply: Reply,
    state: JobState,
    answer: Answer,
    later: Option<Vec<Vec<u8>>>,
    pub(super) is_killed: bool,
}

#[derive(Debug)]
enum JobState {
    Values(Run),
    Rows(Box<execute::Run>),
}

enum Progress {
    Done(Vec<Value>),
    Wait(i128, bool),
}

#[derive(Debug)]
enum Answer {
    Done,
    Changed(Changed),
    Rows(Vec<Vec<Value>>, bool),
}

fn row(values: &[Value]) -> Vec<u8> {
    let mut body = Vec::new();
    for value in values {
        match value.text() {
            Some(text) => put_text(&mut body, &text),
            None => body.push(0xfb),
        }
    }
    body
}

impl Job {
    fn status(&self, session: &Session) -> Status {
        let has_more = self.next < self.text.len();
        Status(session.status().0 | (u16::from(has_more) * Status::MORE_RESULTS))
    }

    fn columns(&mut self, columns: &[Vec<u8>], session: &Session) {
        let mut count = Vec::new();
        put_length(&mut count, columns.len());
        self.reply.packet(&count);
        columns.iter().for_each(|column| self.reply.packet(column));
        self.reply.eof(self.status(session), session.warnings);
    }

    fn row(&mut self, values: &[Value]) {
        self.reply.packet(&row(values));
    }

    fn conclude(&mut self, session: &Session, values: &[Value]) {
        if let Some(columns) = self.later.take() {
            self.columns(&columns, session);
        }
        match std::mem::replace(&mut self.answer, Answer::Done) {
            Answer::Done => self.reply.ok(self.status(session), session.warnings),
            Answer::Changed(Changed { affected, info }) => {
                let status = self.status(session);
                self.reply.changed(status, session.warnings, affected, info.as_deref());
            }
            Answer::Rows(rows, has_values) => {
                rows.iter().for_each(|row| self.row(row));
                if has_values {
                    self.row(values);
                }
                self.reply.eof(self.status(session), session.warnings);
            }
        }
    }
}

impl Client {
    pub(super) fn query(&mut self, core: &mut Core, text: &[u8]) {
        let last = text.iter().rposition(|byte| !matches!(byte, 0 | 9..=13 | b' ' | b';'));
        let text = text[..last.map_or(0, |last| last + 1)].trim_ascii_start().to_vec();
        let (reply, state) = (Reply::new(self.number), JobState::Values(Run::new(&[], 0)));
        let answer = Answer::Done;
        let job = Job { text, next: 0, reply, state, answer, later: None, is_killed: false };
        self.begin(core, Box::new(job));
    }

    fn begin(&mut self, core: &mut Core, mut job: Box<Job>) {
        self.session.warnings = 0;
        self.session.no_index = false;
        core.store.mark(self.session.id);
        job.is_killed = false;
        match self.prepare(core, &mut job) {
            Ok(()) if self.is_over => {}
            Ok(()) => {
                self.job = Some(job);
                self.advance(core);
            }
            Err(error) => self.fail(core, *job, &error),
        }
    }

    fn prepare(&mut self, core: &mut Core, job: &mut Job) -> Outcome<()> {
        let Parsed { statement, end } = parse(&job.text, job.next)?;
        let next = rest(&job.text, end);
        if next < job.text.len() && !self.session.takes_several {
            return Err(wrong(&job.text, next));
        }
        job.next = next;
        job.later = None;
        (job.state, job.answer) = (JobState::Values(Run::new(&[], 0)), Answer::Done);
        let now = self.session.instant(core.now.wall.0);
        match statement {
            Statement::Tables(statement) => self.tables(core, job, &statement)?,
            Statement::Select(items, has_row) => self.select(job, &items, has_row, now)?,
            Statement::Do(expressions) => {
                for expression in &expressions {
                    shape(expression, &self.session)?;
                }
                job.state = JobState::Values(Run::continuing_after_errors(&expressions, now));
            }
            Statement::Set(assignments) => self.set(core, &assignments)?,
            Statement::Names(charset) => self.session.charset = charset,
            Statement::Isolation { level, is_session } => self.isolate(level, is_session)?,
            Statement::Use(name) => self.session.choose(&name, &core.store)?,
            Statement::Begin => {
                let isolation = self.session.isolation;
                let was_open = self.session.in_transaction;
                self.commit(core);
                if !was_open {
                    self.session.isolation = isolation;
                }
                self.session.in_transaction = true;
            }
            Statement::Commit => self.commit(core),
            Statement::Rollback => {
                core.store.roll_back(self.session.id);
                self.session.end_transaction();
            }
            Statement::ShowWarnings => self.show_warnings(job),
            Statement::Kill { id, is_query } => self.order_kill(core, id, is_query)?,
            Statement::Nothing => {}
        }
        Ok(())
    }

    fn commit(&mut self, core: &mut Core) {
        core.store.commit(self.session.id);
        self.session.end_transaction();
        self.flushing = core.write_log();
    }

    fn isolate(&mut self, level: &'static str, is_session: bool) -> Outcome<()> {
        let session = &mut self.session;
        match is_session {
            true => session.variables.isolation = level,
            false if session.in_transaction => return Err(SqlError::in_progress()),
            false => {}
        }
        if !session.in_transaction {
            session.isolation = level;
        }
        Ok(())
    }

    fn tables(
        &mut self,
        core: &mut Core,
        job: &mut Job,
        statement: &TableStatement,
    ) -> Outcome<()> {
        if !matches!(statement, TableStatement::CreateDatabase { .. }) {
            self.session.messages.clear();
        }
        if is_definition(statement) {
            self.commit(core);
        }
        let mut context = Context { store: &mut core.store, session: &mut self.session };
        match execute::prepare(statement, &mut context, core.now)? {
            Prepared::Done { affected } => {
                job.answer = Answer::Changed(Changed { affected, info: None });
                self.flushing = core.write_log().or(self.flushing);
            }
            Prepared::Run(columns, run) => {
                match columns {
                    Some(columns) if run.sends_columns_first() => {
                        job.columns(&columns, &self.session);
                    }
                    columns => job.later = columns,
                }
                job.state = JobState::Rows(run);
            }
        }
        Ok(())
    }

    fn select(&mut self, job: &mut Job, items: &[Item], has_row: bool, now: i64) -> Outcome<()> {
        let session = &self.session;
        let shapes: Outcome<Vec<Shape>> =
            items.iter().map(|item| shape(&item.expression, session)).collect();
        let columns = shapes?.into_iter().zip(items);
        let columns: Vec<Vec<u8>> =
            columns.map(|(shape, item)| shape.column(&item.name, session)).collect();
        job.columns(&columns, session);
        job.answer = Answer::Rows(Vec::new(), has_row);
        if has_row {
            let all: Vec<Expression> = items.iter().map(|item| item.expression.clone()).collect();
            job.state = JobState::Values(Run::new(&all, now));
        }
        Ok(())
    }

    fn set(&mut self, core: &mut Core, assignments: &[Assignment]) -> Outcome<()> {
        let variables = &self.session.variables;
        let changes: Outcome<Vec<Change>> = assignments
            .iter()
            .map(|assignment| variables.check(&assignment.name, assignment.value.as_ref()))
            .collect();
        for change in changes? {
            if let Change::Integer { name, out_of_bounds: Some(wanted), .. } = &change {
                let message = format!("Truncated incorrect {name} value: '{wanted}'");
                self.session.warn(1292, message);
            }
            if change == Change::Autocommit(true) && !self.session.variables.autocommit {
                self.commit(core);
            }
            if let Change::Timestamp(micros) = change {
                self.session.timestamp = micros;
            }
            self.session.variables.apply(&change);
        }
        Ok(())
    }

    fn show_warnings(&mut self, job: &mut Job) {
        let columns = Shape::of_warnings();
        let columns: Vec<Vec<u8>> =
            columns.map(|(name, shape)| shape.column(name.as_bytes(), &self.session)).to_vec();
        job.columns(&columns, &self.session);
        let rows = self.session.messages.iter().map(|message| {
            let level = Value::Text(message.level.as_bytes().to_vec());
            let code = Value::Integer(i128::from(message.code));
            vec![level, code, Value::Text(message.text.clone())]
        });
        job.answer = Answer::Rows(rows.collect(), false);
    }

    pub(super) fn order_kill(&mut self, core: &mut Core, id: i128, is_query: bool) -> Outcome<()> {
        let known = u32::try_from(id).ok().filter(|id| core.sessions.contains(id));
        let id = known.ok_or_else(|| SqlError::unknown_session(id))?;
        if id == self.session.id {
            return Err(match is_query {
                true => SqlError::interrupted(),
                false => SqlError::killed(),
            });
        }
        core.kills.push((id, is_query));
        Ok(())
    }

    pub(super) fn advance(&mut self, core: &mut Core) {
        let Some(mut job) = self.job.take() else { return };
        let came = self.step(core, &mut job);
        match came {
            Ok(Progress::Wait(micros, is_for_row)) => {
                let wait = Wait::new(core.now, micros, is_for_row);
                let is_over = wait.is_none();
                let gone_at = self.is_gone.then_some(core.now.wall.0);
                let now = Wait { from: 0, until: 0, gone_at, is_for_row };
                self.wait = Some(Wait { gone_at, ..wait.unwrap_or(now) });
                self.job = Some(job);
                if is_over {
                    self.resume(core, Wake::TooLate);
                }
            }
            Ok(Progress::Done(values)) => {
                self.job = Some(job);
                if self.flushing.is_none() {
                    self.conclude(core, &values);
                }
            }
            Err(error) => self.fail(core, *job, &error),
        }
    }

    fn step(&mut self, core: &mut Core, job: &mut Job) -> Outcome<Progress> {
        let session = &mut self.session;
        let run = match &mut job.state {
            JobState::Values(run) => {
                return Ok(match run.resume(session, &mut core.locks, job.is_killed)? {
                    Step::Wait(micros) => Progress::Wait(micros, false),
                    Step::Done(values) => Progress::Done(values),
                });
            }
            JobState::Rows(run) => run,
        };
        match run.resume(&mut Context { store: &mut core.store, session })? {
            execute::Step::Wait(micros) => return Ok(Progress::Wait(micros, true)),
            execute::Step::Rows(rows) => job.answer = Answer::Rows(rows, false),
            execute::Step::Changed(changed) => job.answer = Answer::Changed(changed),
        }
        if !self.session.in_transaction {
            self.commit(core);
        }
        Ok(Progress::Done(Vec::new()))
    }

    pub(super) fn conclude(&mut self, core: &mut Core, values: &[Value]) {
        let Some(mut job) = self.job.take() else { return };
        job.conclude(&self.session, values);
        match job.next < job.text.len() {
            true => self.begin(core, job),
            false => self.finish(core, job.reply),
        }
    }

    pub(super) fn answer_wait(&mut self, core: &mut Core, wake: Wake) {
        let Some(mut job) = self.job.take() else { return };
        let outcome = match (&mut job.state, wake) {
            (JobState::Values(run), wake) => {
                let came = match wake {
                    Wake::Granted => Ok(Value::truth(true)),
                    Wake::TooLate => Ok(Value::truth(false)),
                    Wake::Killed => Ok(Value::Null),
                    Wake::Deadlock => Err(SqlError::deadlock()),
                };
                run.answer(came, &mut self.session)
            }
            (JobState::Rows(_), Wake::Granted) => Ok(()),
            (JobState::Rows(_), Wake::TooLate) => Err(SqlError::waited_too_long()),
            (JobState::Rows(_), Wake::Killed) => Err(SqlError::interrupted()),
            (JobState::Rows(_), Wake::Deadlock) => Err(SqlError::deadlock()),
        };
        match outcome {
            Ok(()) => {
                self.job = Some(job);
                self.advance(core);
            }
            Err(error) => self.fail(core, *job, &error),
        }
    }

    fn take_back(&mut self, core: &mut Core, loses_all: bool) {
        if loses_all || !self.session.in_transaction {
            if core.store.transactions.contains_key(&self.session.id) {
                core.store.roll_back(self.session.id);
                self.session.end_transaction();
            }
        } else {
            core.store.undo_statement(self.session.id);
        }
    }

    fn fail(&mut self, core: &mut Core, mut job: Job, error: &SqlError) {
        let is_of_rows = matches!(job.state, JobState::Rows(_));
        if let JobState::Rows(run) = &mut job.state {
            run.take_rows().iter().for_each(|values| job.reply.packet(&row(values)));
        }
        self.take_back(core, is_of_rows && error.code == SqlError::deadlock().code);
        self.flushing = None;
        self.session.add_error(error);
        job.reply.error(error);
        self.finish(core, job.reply);
        if error.code == SqlError::killed().code {
            self.leave(core);
        }
    }
}
