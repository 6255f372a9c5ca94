//! A client connection ([`Client`]). It reads no messages while a statement waits.

mod extended;
mod query;
mod startup;

use crate::core::Core;
use crate::error::SqlError;
use crate::execute::{Run, Stop, transactions};
use crate::session::{Prepared, Session};
use crate::settings::REPORTED;
use crate::span::Span;
use crate::stream::Sender;
use crate::wire::{self, Body, Frame};
use bytes::{BufMut, Bytes, BytesMut};
use query::Query;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) session: Session,
    pub(crate) input: BytesMut,
    pub(crate) out: BytesMut,
    pub(crate) stage: Stage,
    job: Option<Job>,
    pub(crate) blocked: Option<Stop>,
    pub(crate) timers: Timers,
    portals: BTreeMap<String, Portal>,
    /// `true` while the session skips messages after an error, until the next Sync.
    is_skipping: bool,
    pub(crate) is_gone: bool,
    pub(crate) is_over: bool,
    pub(crate) commands: u32,
    reported: BTreeMap<&'static str, String>,
    pub(crate) sender: Option<Sender>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    Startup { asked_ssl: bool, asked_gss: bool },
    Ready,
}

#[derive(Debug)]
enum Job {
    Query(Box<Query>),
    Execute(String, u32),
    Sync,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timers {
    pub(crate) statement: Option<u64>,
    pub(crate) lock: Option<u64>,
    pub(crate) deadlock: Option<u64>,
    pub(crate) idle: Option<u64>,
}

#[derive(Debug)]
struct Portal {
    prepared: Prepared,
    run: Run,
    formats: Vec<u16>,
    tag: Option<String>,
    has_suspended: bool,
    is_exhausted: bool,
}

impl Client {
    pub(crate) fn new(session: Session) -> Client {
        Client {
            session,
            input: BytesMut::new(),
            out: BytesMut::new(),
            stage: Stage::Startup { asked_ssl: false, asked_gss: false },
            job: None,
            blocked: None,
            timers: Timers::default(),
            portals: BTreeMap::new(),
            is_skipping: false,
            is_gone: false,
            is_over: false,
            commands: 0,
            reported: BTreeMap::new(),
            sender: None,
        }
    }

    pub(crate) fn has_more(&self) -> bool {
        let is_waiting = self.blocked.is_some() || self.is_over;
        !is_waiting && self.stage == Stage::Ready && wire::has_frame(&self.input)
    }

    pub(crate) fn serve(&mut self, core: &mut Core) {
        while self.blocked.is_none() && !self.is_over {
            if matches!(self.stage, Stage::Startup { .. }) {
                if !self.start_up(core) {
                    break;
                }
                continue;
            }
            let (kind, body) = match wire::frame(&mut self.input) {
                Frame::More => break,
                Frame::Message(kind, body) => (kind, body),
                Frame::Unknown(kind) => {
                    let message = format!("invalid frontend message type {kind}");
                    self.end(core, &SqlError::fatal("08P01", message));
                    return;
                }
                Frame::Broken => return self.leave(core),
            };
            self.timers.idle = None;
            self.handle_message(core, kind, body);
            if matches!(kind, b'Q' | b'S') {
                break;
            }
        }
        if self.is_gone && self.blocked.is_none() && !self.has_more() {
            self.leave(core);
        }
    }

    fn handle_message(&mut self, core: &mut Core, kind: u8, body: Bytes) {
        self.session.in_hot_standby = core.is_in_recovery;
        if self.sender.is_some() {
            return self.handle_standby(core, kind, body);
        }
        let body = Body::new(body);
        if self.is_skipping && !matches!(kind, b'S' | b'X') {
            return;
        }
        let outcome = match kind {
            b'Q' => return self.begin_query(core, body),
            b'X' => return self.leave(core),
            b'S' => {
                self.is_skipping = false;
                self.job = Some(Job::Sync);
                return self.advance(core);
            }
            b'P' => self.parse(core, body),
            b'B' => self.bind(core, body),
            b'D' => self.describe(core, body),
            b'E' => return self.execute(core, body),
            b'C' => self.close(body),
            b'F' => Err(SqlError::unsupported("the FunctionCall message")),
            _ => Ok(()),
        };
        if let Err(error) = outcome {
            self.fail(core, &error);
            self.is_skipping = kind != b'F' && !self.is_over;
            if kind == b'F' {
                self.ready(core);
            }
        }
    }

    pub(crate) fn advance(&mut self, core: &mut Core) {
        self.blocked = None;
        self.timers.lock = None;
        self.timers.deadlock = None;
        let Some(job) = self.job.take() else { return };
        let (job, outcome) = match job {
            Job::Query(mut query) => {
                let outcome = self.resume(core, &mut query);
                (Job::Query(query), outcome)
            }
            Job::Execute(portal, rows) => {
                let outcome = self.continue_execute(core, &portal, rows);
                (Job::Execute(portal, rows), outcome)
            }
            Job::Sync => (Job::Sync, self.continue_sync(core)),
        };
        match outcome {
            Ok(()) => {}
            Err(Stop::Error(error)) => self.interrupt_with(core, job, &error),
            Err(stop) => {
                self.wait(core, &stop);
                (self.job, self.blocked) = (Some(job), Some(stop));
            }
        }
        if !matches!(self.job, Some(Job::Execute(..))) && self.job.is_none() {
            self.timers.statement = None;
        }
    }

    fn wait(&mut self, core: &Core, stop: &Stop) {
        if *stop != Stop::Wait {
            return;
        }
        let now = core.now.monotonic.0;
        let after = |name| self.session.settings.span(name).map(|span| now + span);
        self.timers.lock = after("lock_timeout");
        self.timers.deadlock = after("deadlock_timeout");
    }

    pub(crate) fn interrupt(&mut self, core: &mut Core, error: &SqlError) {
        self.blocked = None;
        match self.job.take() {
            Some(job) => self.interrupt_with(core, job, error),
            None => self.end(core, error),
        }
    }

    /// Ends a commit's wait for the standby with a warning. `is_over` also ends the session. The
    /// transaction stays committed.
    pub(crate) fn stop_waiting(&mut self, core: &mut Core, is_over: bool) {
        let what = match is_over {
            true => {
                "canceling the wait for synchronous replication and terminating connection due to \
                 administrator command"
            }
            false => "canceling wait for synchronous replication due to user request",
        };
        let code = if is_over { "57P01" } else { "01000" };
        let warning = SqlError::of(crate::error::Severity::Warning, code, what).detail(
            "The transaction has already committed locally, but might not have been replicated to \
             the standby.",
        );
        wire::error(&mut self.out, &warning);
        if let Some(open) = &mut self.session.transaction {
            open.standby = 0;
        }
        if is_over {
            self.job = None;
            let _ = transactions::commit(core, &mut self.session);
            self.leave(core);
        } else {
            self.advance(core);
        }
    }

    fn interrupt_with(&mut self, core: &mut Core, job: Job, error: &SqlError) {
        if let Job::Query(_) | Job::Sync = job {
            self.fail(core, error);
            if !self.is_over {
                self.ready(core);
            }
            return;
        }
        self.fail(core, error);
        self.is_skipping = !self.is_over;
    }

    fn fail(&mut self, core: &mut Core, error: &SqlError) {
        self.timers = Timers::default();
        core.locks.give_up(self.session.backend);
        transactions::fail(core, &mut self.session);
        self.portals.clear();
        self.send_notices();
        wire::error(&mut self.out, error);
        if error.severity == crate::error::Severity::Fatal {
            self.leave(core);
        }
    }

    pub(crate) fn end(&mut self, core: &mut Core, error: &SqlError) {
        wire::error(&mut self.out, error);
        self.leave(core);
    }

    pub(crate) fn leave(&mut self, core: &mut Core) {
        if self.is_over {
            return;
        }
        self.is_over = true;
        self.timers = Timers::default();
        let backend = self.session.backend;
        core.locks.give_up(backend);
        transactions::rollback(core, &mut self.session);
        core.locks.release_all(backend, Span::Session);
        core.backends.retain(|other| *other != backend);
    }

    fn send_notices(&mut self) {
        for notice in std::mem::take(&mut self.session.notices) {
            if self.session.settings.shows(notice.severity) {
                wire::error(&mut self.out, &notice);
            }
        }
    }

    pub(crate) fn ready(&mut self, core: &Core) {
        self.session.in_hot_standby = core.is_in_recovery;
        self.report();
        let open = self.session.transaction.as_ref();
        let status = match open {
            Some(open) if open.has_failed => b'E',
            Some(_) => b'T',
            None => b'I',
        };
        wire::message(&mut self.out, b'Z', |out| out.put_u8(status));
        let name = match open {
            Some(_) => "idle_in_transaction_session_timeout",
            None => "idle_session_timeout",
        };
        let span = self.session.settings.span(name);
        self.timers =
            Timers { idle: span.map(|span| core.now.monotonic.0 + span), ..Timers::default() };
    }

    fn report(&mut self) {
        for name in REPORTED {
            let value = self.session.show(name).unwrap_or_default();
            if self.reported.get(name) != Some(&value) {
                wire::parameter_status(&mut self.out, name, &value);
                self.reported.insert(name, value);
            }
        }
    }

    pub(crate) fn idle_error(&self) -> SqlError {
        match self.session.transaction {
            Some(_) => {
                let message = "terminating connection due to idle-in-transaction timeout";
                SqlError::fatal("25P03", message)
            }
            None => SqlError::fatal("57P05", "terminating connection due to idle-session timeout"),
        }
    }
}
