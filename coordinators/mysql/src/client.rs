//! The server's side of a client connection ([`Client`]). It reads nothing during a statement.

mod commands;
mod login;
mod statements;

use crate::error::SqlError;
use crate::locks::{SessionId, UserLocks};
use crate::packet::{self, Frame, Reply};
use crate::session::Session;
use crate::store::{Store, log};
use bytes::{Bytes, BytesMut};
use fencepost_machine::{Now, Output};
use login::Login;
use statements::Job;
use std::collections::BTreeSet;

/// Default of MariaDB's `connect_timeout`, in microseconds.
const LOGIN_MAX_US: u64 = 10_000_000;
/// Interval in microseconds at which a waiting session checks its client's connection.
const CONNECTION_CHECK_US: i64 = 1_000_000;

#[derive(Debug, Default)]
pub(crate) struct Core {
    pub(crate) now: Now,
    pub(crate) locks: UserLocks,
    pub(crate) store: Store,
    pub(crate) sessions: BTreeSet<SessionId>,
    pub(crate) kills: Vec<(SessionId, bool)>,
    pub(crate) wants: Vec<Output>,
    pub(crate) asked_syncs: u64,
    pub(crate) done_syncs: u64,
}

impl Core {
    /// Logs the committed changes. Returns the number of the sync that the commit waits for
    /// (`innodb_flush_log_at_trx_commit`), or `None` if nothing changed.
    fn write_log(&mut self) -> Option<u64> {
        let records = std::mem::take(&mut self.store.unlogged);
        if records.is_empty() {
            return None;
        }
        self.wants.push(Output::DiskAppend { bytes: log::group(&records) });
        self.wants.push(Output::DiskSync);
        self.asked_syncs += 1;
        Some(self.asked_syncs)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wake {
    Granted,
    TooLate,
    Killed,
    Deadlock,
}

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) session: Session,
    pub(crate) input: BytesMut,
    pub(crate) out: BytesMut,
    number: u8,
    stage: Stage,
    job: Option<Box<Job>>,
    wait: Option<Wait>,
    flushing: Option<u64>,
    silent_since: u64,
    pub(crate) is_gone: bool,
    pub(crate) is_over: bool,
    pub(crate) commands: u32,
}

#[derive(Debug)]
enum Stage {
    Login(Login),
    Ready,
}

/// A wait with a deadline on the wall clock, as in the real server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Wait {
    from: i64,
    until: i64,
    gone_at: Option<i64>,
    /// `true` for a wait for a row lock, which does not check the client's connection.
    is_for_row: bool,
}

impl Wait {
    /// Begins a wait. Returns `None` if it ends immediately, for example if its deadline overflows.
    fn new(now: Now, micros: i128, is_for_row: bool) -> Option<Wait> {
        if micros <= 0 {
            return None;
        }
        let from = now.wall.0;
        let end = i128::from(from).checked_add(micros)?;
        u64::try_from(end.checked_mul(1_000)?).ok()?;
        Some(Wait { from, until: i64::try_from(end).ok()?, gone_at: None, is_for_row })
    }

    fn end(self) -> i64 {
        let Some(gone_at) = self.gone_at.filter(|_| !self.is_for_row) else { return self.until };
        let looks = (gone_at - self.from).div_euclid(CONNECTION_CHECK_US) + 1;
        self.until.min(self.from + looks.max(1) * CONNECTION_CHECK_US)
    }
}

impl Client {
    pub(crate) fn new(id: SessionId, peer: &str, salt: [u8; 20], now: Now) -> Client {
        let host = peer.rsplit_once(':').map_or(peer, |(host, _)| host);
        let host = if host == "127.0.0.1" { "localhost" } else { host };
        Client {
            session: Session::new(id, host.to_owned()),
            input: BytesMut::new(),
            out: login::greeting(id, &salt),
            number: 1,
            stage: Stage::Login(Login::new(salt)),
            job: None,
            wait: None,
            flushing: None,
            silent_since: now.monotonic.0,
            is_gone: false,
            is_over: false,
            commands: 0,
        }
    }

    pub(crate) fn internal(now: Now) -> Client {
        Client { stage: Stage::Ready, ..Client::new(0, "", [0; 20], now) }
    }

    pub(crate) fn carry_out(&mut self, core: &mut Core, text: &str) {
        self.query(core, text.as_bytes());
        core.done_syncs = core.asked_syncs;
        self.synced(core);
    }

    pub(crate) fn has_more(&self) -> bool {
        let can_serve = !self.is_busy() && !self.is_over;
        can_serve && packet::is_ready(&self.input, self.number)
    }

    fn is_busy(&self) -> bool {
        self.wait.is_some() || self.flushing.is_some()
    }

    pub(crate) fn receive(&mut self, core: &mut Core, bytes: &[u8]) {
        self.silent_since = core.now.monotonic.0;
        self.input.extend_from_slice(bytes);
        self.serve(core);
    }

    pub(crate) fn serve(&mut self, core: &mut Core) {
        if self.is_busy() || self.is_over {
            return;
        }
        match packet::take(&mut self.input, &mut self.number) {
            Frame::More => {
                if self.is_gone {
                    self.leave(core);
                }
            }
            Frame::Body(body) => self.handle_packet(core, &body),
            Frame::OutOfOrder => {
                self.end(core, &SqlError::new(1156, "08S01", "Got packets out of order"));
            }
            Frame::TooLarge => {
                let message = "Got a packet bigger than 'max_allowed_packet' bytes";
                self.end(core, &SqlError::new(1153, "08S01", message));
            }
        }
    }

    fn handle_packet(&mut self, core: &mut Core, body: &Bytes) {
        self.commands += 1;
        match self.stage {
            Stage::Login(_) => self.log_in(core, body),
            Stage::Ready => self.command(core, body),
        }
    }

    fn finish(&mut self, core: &Core, reply: Reply) {
        if !self.is_gone {
            self.out.unsplit(reply.into_bytes());
        }
        self.number = 0;
        self.silent_since = core.now.monotonic.0;
    }

    fn end(&mut self, core: &mut Core, error: &SqlError) {
        let mut reply = Reply::new(self.number);
        reply.error(error);
        self.finish(core, reply);
        self.leave(core);
    }

    pub(crate) fn leave(&mut self, core: &mut Core) {
        if self.is_over {
            return;
        }
        self.is_over = true;
        (self.job, self.wait, self.flushing) = (None, None, None);
        core.locks.forget(self.session.id);
        core.store.roll_back(self.session.id);
        core.sessions.remove(&self.session.id);
    }

    pub(crate) fn hang_up(&mut self, core: &mut Core) {
        self.is_gone = true;
        let now = core.now.wall.0;
        match &mut self.wait {
            Some(wait) => wait.gone_at = Some(now),
            None => self.serve(core),
        }
    }

    pub(crate) fn due_in(&self, now: Now) -> Option<u64> {
        if self.is_over {
            return None;
        }
        if let Some(wait) = self.wait {
            // Wake within a second, to notice a step of the wall clock.
            let left = wait.end().saturating_sub(now.wall.0).clamp(0, CONNECTION_CHECK_US);
            return Some(left as u64);
        }
        if self.flushing.is_some() {
            return None;
        }
        let until = self.silent_since.saturating_add(self.silence_max());
        Some(until.saturating_sub(now.monotonic.0))
    }

    fn silence_max(&self) -> u64 {
        match self.stage {
            Stage::Login(_) => LOGIN_MAX_US,
            Stage::Ready => self.session.variables.wait_timeout_us(),
        }
    }

    pub(crate) fn check_timers(&mut self, core: &mut Core) {
        match self.wait {
            Some(wait) if wait.end() <= core.now.wall.0 => {
                self.resume(core, Wake::TooLate);
            }
            None if self.due_in(core.now) == Some(0) => self.leave(core),
            _ => {}
        }
    }

    pub(crate) fn will_be_answered(&self) -> bool {
        self.is_busy() && !self.is_gone
    }

    pub(crate) fn kill(&mut self, core: &mut Core, is_query: bool) {
        if !is_query {
            return self.leave(core);
        }
        if self.wait.is_some() {
            if let Some(job) = &mut self.job {
                job.is_killed = true;
            }
            self.resume(core, Wake::Killed);
        }
    }

    pub(crate) fn resume(&mut self, core: &mut Core, wake: Wake) {
        if self.wait.take().is_none() {
            return;
        }
        if wake != Wake::Granted {
            core.locks.give_up(self.session.id);
            core.store.locks.give_up(self.session.id);
            core.store.wake();
        }
        self.answer_wait(core, wake);
        if self.is_gone {
            self.serve(core);
        }
    }

    pub(crate) fn synced(&mut self, core: &mut Core) {
        if self.flushing.is_some_and(|sync| sync <= core.done_syncs) {
            self.flushing = None;
            self.conclude(core, &[]);
            if self.is_gone {
                self.serve(core);
            }
        }
    }
}
