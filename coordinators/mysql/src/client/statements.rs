//! Statements: one text may hold several, and each is answered by itself.

use super::{Client, Core, Wait};
use crate::columns::{Shape, shape};
use crate::error::{Outcome, SqlError};
use crate::packet::{Reply, Status, put_length, put_text};
use crate::run::{Run, Step};
use crate::session::Session;
use crate::sql::ast::{Assignment, Expression, Item, Statement};
use crate::sql::{Parsed, parse, rest, wrong};
use crate::value::Value;
use crate::variables::Change;

/// A text whose statements are carried out one by one.
#[derive(Debug)]
pub(crate) struct Job {
    text: Vec<u8>,
    /// Where in the text the next statement begins; at its end there is none.
    next: usize,
    reply: Reply,
    pub(super) run: Run,
    answer: Answer,
    /// Whether somebody has ended the statement: then it waits for nothing any more.
    pub(super) is_killed: bool,
}

/// What a statement is answered with once it is carried out.
#[derive(Debug)]
enum Answer {
    Done,
    /// Rows that are there already, and whether what is being worked out is one more.
    Rows(Vec<Vec<Value>>, bool),
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
        let mut body = Vec::new();
        for value in values {
            match value.text() {
                Some(text) => put_text(&mut body, &text),
                None => body.push(0xfb),
            }
        }
        self.reply.packet(&body);
    }

    /// Says what the statement came to.
    fn conclude(&mut self, session: &Session, values: &[Value]) {
        match std::mem::replace(&mut self.answer, Answer::Done) {
            Answer::Done => self.reply.ok(self.status(session), session.warnings),
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
    /// Carries out the statements of a text.
    pub(super) fn query(&mut self, core: &mut Core, text: &[u8]) {
        let last = text.iter().rposition(|byte| !matches!(byte, 0 | 9..=13 | b' ' | b';'));
        let text = text[..last.map_or(0, |last| last + 1)].trim_ascii_start().to_vec();
        let (reply, run) = (Reply::new(self.number), Run::new(&[]));
        let job = Job { text, next: 0, reply, run, answer: Answer::Done, is_killed: false };
        self.begin(core, Box::new(job));
    }

    /// Begins the next statement of a text.
    fn begin(&mut self, core: &mut Core, mut job: Box<Job>) {
        self.session.warnings = 0;
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

    /// Reads the next statement, and carries it out as far as it does not need expressions.
    fn prepare(&mut self, core: &mut Core, job: &mut Job) -> Outcome<()> {
        let Parsed { statement, end } = parse(&job.text, job.next)?;
        let next = rest(&job.text, end);
        if next < job.text.len() && !self.session.takes_several {
            return Err(wrong(&job.text, next));
        }
        job.next = next;
        (job.run, job.answer) = (Run::new(&[]), Answer::Done);
        match statement {
            Statement::Select(items, has_row) => self.select(job, &items, has_row)?,
            Statement::Do(expressions) => {
                for expression in &expressions {
                    shape(expression, &self.session)?;
                }
                job.run = Run::forgiving(&expressions);
            }
            Statement::Set(assignments) => self.set(&assignments)?,
            Statement::Names(charset) => self.session.charset = charset,
            Statement::Isolation { level, is_session } => {
                if is_session {
                    self.session.variables.isolation = level;
                }
            }
            Statement::Use(name) => self.session.choose(&name)?,
            Statement::Begin => self.session.in_transaction = true,
            Statement::Commit | Statement::Rollback => self.session.in_transaction = false,
            Statement::ShowWarnings => self.show_warnings(job),
            Statement::Kill { id, is_query } => self.order_kill(core, id, is_query)?,
            Statement::Nothing => {}
        }
        Ok(())
    }

    fn select(&mut self, job: &mut Job, items: &[Item], has_row: bool) -> Outcome<()> {
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
            job.run = Run::new(&all);
        }
        Ok(())
    }

    /// Sets all variables, or none.
    fn set(&mut self, assignments: &[Assignment]) -> Outcome<()> {
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
            // Whoever turns it on commits what is open; to turn it on twice does nothing.
            if change == Change::Autocommit(true) && !self.session.variables.autocommit {
                self.session.in_transaction = false;
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

    /// Errors: 1094; 1317 and 1927 for whoever ends itself.
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

    /// Goes on with what is being done, until it is done or has to wait.
    pub(super) fn advance(&mut self, core: &mut Core) {
        let Some(mut job) = self.job.take() else { return };
        let is_killed = job.is_killed;
        match job.run.go_on(&mut self.session, &mut core.locks, is_killed) {
            Ok(Step::Wait(micros)) => match Wait::new(core.now, micros) {
                Some(wait) => {
                    let gone_at = self.is_gone.then_some(wait.from);
                    self.wait = Some(Wait { gone_at, ..wait });
                    self.job = Some(job);
                }
                None => {
                    core.locks.give_up(self.session.id);
                    self.job = Some(job);
                    self.answer_wait(core, Ok(Value::truth(false)));
                }
            },
            Ok(Step::Done(values)) => {
                job.conclude(&self.session, &values);
                match job.next < job.text.len() {
                    true => self.begin(core, job),
                    false => self.finish(core, job.reply),
                }
            }
            Err(error) => self.fail(core, *job, &error),
        }
    }

    /// What a wait came to is what its call does.
    pub(super) fn answer_wait(&mut self, core: &mut Core, outcome: Outcome<Value>) {
        let Some(mut job) = self.job.take() else { return };
        match job.run.answer(outcome, &mut self.session) {
            Ok(()) => {
                self.job = Some(job);
                self.advance(core);
            }
            Err(error) => self.fail(core, *job, &error),
        }
    }

    /// Tells the client of an error; what stands after it in the text is not carried out.
    fn fail(&mut self, core: &mut Core, mut job: Job, error: &SqlError) {
        self.session.tell_error(error);
        job.reply.error(error);
        self.finish(core, job.reply);
        if error.code == SqlError::killed().code {
            self.leave(core);
        }
    }
}
