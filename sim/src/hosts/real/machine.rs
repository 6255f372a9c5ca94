//! A real server's machine. It runs the traced processes and passes inputs to them.

mod console_reader;
mod links;

use super::console::{Console, ConsoleReply};
use super::files::Files;
use super::judged::{Judged, Trigger};
use super::kind::Part;
use super::work::Work;
use bytes::BytesMut;
use console_reader::ConsoleReader;
use fencepost_faults::{Node, SimTime};
use fencepost_machine::wording::Wording;
use fencepost_machine::{
    ConnectionId, Input, Machine, Now, OperatorAction, Output, Outputs, SyncError, WallTime,
};
use fencepost_programs::{Clocks, Ending, Group, News, Request, SocketId};
use links::{AnswerTiming, Links, Peer};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddrV4;
use std::rc::Rc;

/// Monotonic time of a server at virtual time 0, so that the server can boot earlier.
const MONOTONIC_BEGIN_US: u64 = 10_000_000;
/// Longest boot time that the machine cuts short once the server is ready.
const SHORT_BOOT_US: u64 = 50_000;
const TURNS_MAX: u32 = 10_000;
const EIO: i32 = 5;
const ENOSPC: i32 = 28;

pub(super) struct RealServer {
    part: Part,
    files: Rc<Files>,
    group: Option<Group>,
    life: usize,
    links: Links,
    dialled: BTreeMap<ConnectionId, u16>,
    console_reader: ConsoleReader,
    judged: Judged,
    work: VecDeque<Work>,
    partial: BTreeMap<ConnectionId, BytesMut>,
    has_started: bool,
    has_lost_power: bool,
    has_failed_sync: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StepOutcome {
    Idle,
    Busy,
}

impl RealServer {
    pub(super) fn new(part: &Part, files: Rc<Files>, seed: u64, now: Now) -> RealServer {
        let lives = &part.world.lives;
        let started = part.run_time(now);
        let life = lives.begins(part.node, started);
        // Only programs report to the judge, so a server's silence is not an error.
        lives.with(life, |life| life.has_spoken = true);
        let group = match files.folder() {
            Ok(folder) => {
                Group::start(&part.launch(folder, seed)).map_err(|error| error.to_string())
            }
            Err(why) => Err(format!("cannot create a folder for the server's files: {why}")),
        };
        if let Err(why) = &group {
            let ending = Ending::NotEmulated(format!("could not be started: {why}"));
            lives.with(life, |life| life.ending = Some((started, ending)));
        }
        RealServer {
            part: part.clone(),
            files,
            group: group.ok(),
            life,
            links: Links::default(),
            dialled: BTreeMap::new(),
            console_reader: ConsoleReader::new((part.kind.console)(part), part.recipe.port),
            judged: Judged::default(),
            work: VecDeque::new(),
            partial: BTreeMap::new(),
            has_started: false,
            has_lost_power: false,
            has_failed_sync: false,
        }
    }

    pub(super) fn has_read(&self) -> bool {
        self.console_reader.has_read()
    }

    pub(super) fn listening(&self) -> Vec<u16> {
        self.group.as_ref().map_or_else(Vec::new, Group::listening)
    }

    pub(super) fn has_connected(&self) -> bool {
        self.console_reader.is_connected()
    }

    fn console(&mut self) -> &mut dyn Console {
        &mut *self.console_reader.console
    }

    /// Runs the server for its boot time. Only a short boot may end early, because that skips time.
    fn boot(&mut self, now: Now, out: &mut Outputs) {
        self.has_started = true;
        if !self.part.is_sentinel() {
            self.console_reader.require_read(Trigger::Start);
        }
        let mut left_us = self.part.recipe.boot.0;
        let is_short = left_us <= SHORT_BOOT_US;
        while left_us > 0 {
            let then =
                Now { wall: WallTime(now.wall.0 - left_us as i64), monotonic: now.monotonic };
            let (stepped, wake_after_us) = self.step_server(then, left_us, out);
            let is_ready = stepped == StepOutcome::Idle && self.console_reader.has_read();
            if self.group.is_none() || (is_ready && is_short) {
                return;
            }
            if stepped == StepOutcome::Idle && self.query_console(now, left_us) {
                continue;
            }
            self.console_reader.is_loading = false;
            let longest = if is_ready { left_us } else { 1_000 };
            left_us = left_us.saturating_sub(wake_after_us.unwrap_or(longest).clamp(1, longest));
        }
    }

    /// Runs the server until it waits for input. Passes at most one command to the server.
    fn run_until_waiting(&mut self, now: Now, out: &mut Outputs) {
        let mut has_served = false;
        for _ in 0..TURNS_MAX {
            let (stepped, wake_after_us) = self.step_server(now, 0, out);
            if let Some(micros) = wake_after_us {
                out.list.retain(|output| !matches!(output, Output::WakeAfter { .. }));
                out.list.push(Output::WakeAfter { micros });
            }
            if stepped == StepOutcome::Busy || self.group.is_none() {
                return;
            }
            if self.query_console(now, 0) {
                continue;
            }
            let Some(work) = self.work.front() else { return };
            let is_command = matches!(work, Work::Command { .. });
            if is_command && has_served {
                out.more = true;
                return;
            }
            if work.is_alone() && self.console_reader.console.is_waiting() {
                return;
            }
            has_served |= is_command;
            self.do_next_work(now, out);
        }
    }

    fn query_console(&mut self, now: Now, before_us: u64) -> bool {
        let Some(group) = &mut self.group else { return false };
        let is_judged = self.part.tap_prefix.is_some() && !self.part.is_sentinel();
        self.console_reader.send_requests(
            group,
            MONOTONIC_BEGIN_US + now.monotonic.0 - before_us,
            is_judged,
        )
    }

    fn do_next_work(&mut self, now: Now, out: &mut Outputs) {
        let (Some(work), Some(group)) = (self.work.pop_front(), &mut self.group) else { return };
        let is_judged = !self.part.is_sentinel();
        match work {
            Work::Command { by, bytes, cause } => {
                if self.console_reader.console.expires_by_wall() {
                    self.judged.report_expired(now.wall, &mut out.list);
                }
                out.commands += 1;
                if let Some(socket) = self.links.note_request(by) {
                    group.deliver(News::Received(socket, bytes));
                }
                if let Some(cause) = cause.filter(|_| is_judged) {
                    self.console_reader.require_read(cause);
                }
            }
            Work::Raw { by, bytes, changes } => {
                if let Some(socket) = self.links.socket(by) {
                    group.deliver(News::Received(socket, bytes));
                }
                if is_judged && changes {
                    self.console_reader.allow_read(Trigger::Itself);
                }
            }
            Work::End { of } => {
                let is_client = !self.links.is_raw(of);
                if let Some(socket) = self.links.ends(of) {
                    group.deliver(News::Ended(socket));
                }
                if is_client && self.console_reader.console.changes().by_ends && self.judged.holds()
                {
                    self.console_reader.allow_read(Trigger::End);
                }
            }
            Work::Operator(action) => self.console_reader.operate(action),
        }
    }

    fn step_server(
        &mut self,
        now: Now,
        before_us: u64,
        out: &mut Outputs,
    ) -> (StepOutcome, Option<u64>) {
        let Some(group) = &mut self.group else { return (StepOutcome::Busy, None) };
        let monotonic_us = MONOTONIC_BEGIN_US + now.monotonic.0 - before_us;
        let step = group.step(Clocks { wall_us: now.wall.0, monotonic_us });
        let output = group.take_output();
        let synced = group.take_synced();
        if !synced.is_empty() {
            self.files.keep_synced(synced);
            let changes = self.console_reader.console.changes();
            if changes.by_replay || (changes.by_syncs && self.judged.holds()) {
                self.console_reader.allow_read(Trigger::Itself);
            }
        }
        let at = self.part.run_time(now);
        self.part.world.lives.with(self.life, |life| {
            life.output.extend(output.into_iter().map(|one| (at, one.channel, one.bytes)));
        });
        for request in step.requests {
            self.carry_out(request, out);
        }
        if let Some(ending) = step.ending {
            self.ends(at, ending, out);
            return (StepOutcome::Busy, None);
        }
        (if step.is_idle { StepOutcome::Idle } else { StepOutcome::Busy }, step.wake_after_us)
    }

    fn carry_out(&mut self, request: Request, out: &mut Outputs) {
        match request {
            Request::Connect { socket, host, port } => {
                let connection = self.links.open_connection(socket);
                out.list.push(Output::Connect { connection, host, port });
            }
            Request::Send { socket, bytes } => match self.console_reader.receive(socket, &bytes) {
                Some(heard) => self.take_heard(heard, out),
                None => self.answers(socket, bytes, out),
            },
            Request::Shutdown { socket } | Request::Close { socket } => {
                match self.console_reader.closed(socket) {
                    Some(heard) => self.take_heard(heard, out),
                    None => {
                        let closed = self.links.close_socket(socket).into_iter();
                        out.list.extend(closed.map(|connection| Output::Close { connection }));
                    }
                }
            }
        }
    }

    fn answers(&mut self, socket: SocketId, bytes: Vec<u8>, out: &mut Outputs) {
        let Some((connection, answered)) = self.links.answers(socket) else { return };
        let is_unchanged = self.console_reader.console.has_changed_nothing(&bytes);
        if is_unchanged {
            self.console_reader.clear_cause(connection);
        }
        let cause = match answered {
            AnswerTiming::AtOnce => None,
            AnswerTiming::Unasked => Some(Trigger::Itself),
            AnswerTiming::Late if is_unchanged => Some(Trigger::Bystander),
            AnswerTiming::Late => Some(Trigger::of(connection)),
        };
        if let Some(cause) = cause.filter(|_| !self.part.is_sentinel()) {
            self.console_reader.allow_read(cause);
        }
        out.list.push(Output::Send { connection, bytes: bytes.into() });
    }

    fn take_heard(&mut self, heard: Vec<ConsoleReply>, out: &mut Outputs) {
        for heard in heard {
            let read = self.console_reader.take_heard(heard, &mut self.judged, out);
            if let Some(Trigger::Command { by, .. }) = read {
                self.links.note_read(by);
            }
        }
    }

    fn ends(&mut self, at: SimTime, ending: Ending, out: &mut Outputs) {
        let closed = self.links.close_all().into_iter();
        out.list.extend(closed.map(|connection| Output::Close { connection }));
        self.has_failed_sync = self.group.as_ref().is_some_and(Group::has_failed_sync);
        let is_expected =
            self.has_failed_sync && matches!(ending, Ending::Exited(_) | Ending::Killed(_));
        if !is_expected {
            self.part.world.lives.with(self.life, |life| life.ending = Some((at, ending)));
        }
        out.stopped = true;
        self.end_life();
    }

    fn end_life(&mut self) {
        let Some(mut group) = self.group.take() else { return };
        self.files.keep_synced(group.take_synced());
        let (dropped, preempted) = (group.output_dropped(), group.preempted());
        let (calls, mut used) = (group.calls().to_vec(), group.files_used().clone());
        // Excludes the server's own files, because their folder has another name in each run.
        if let Ok(folder) = self.files.folder() {
            used.opened.retain(|path| !path.starts_with(folder));
        }
        self.part.world.lives.with(self.life, |life| {
            (life.calls, life.preempted, life.output_dropped) = (calls, preempted, dropped);
            life.used = used;
        });
    }

    fn accept_client(&mut self, connection: ConnectionId, peer: &str, out: &mut Outputs) {
        let (host, port) = peer.rsplit_once(':').unwrap_or((peer, "0"));
        let node: Option<Node> = host.parse().ok().map(|node: Node| node.machine());
        let host = node.map_or(host.to_owned(), |node| node.to_string());
        let to = self.dialled.remove(&connection).unwrap_or(self.part.recipe.port);
        let from = (self.part.address(&host), port.parse().ok());
        let (Some(group), (Some(address), Some(port))) = (&mut self.group, from) else {
            out.list.push(Output::Close { connection });
            return;
        };
        let from = SocketAddrV4::new(address, port);
        let Some(socket) = group.incoming(from, to) else {
            out.list.push(Output::Close { connection });
            return;
        };
        let is_server = matches!(node, Some(Node::Server(_)));
        let peer = if is_server { Peer::Server } else { Peer::Client };
        self.links.accept_connection(connection, socket, peer);
        if !is_server {
            self.console().note_peer(connection, from);
        }
    }

    fn receive_from(&mut self, connection: ConnectionId, bytes: &[u8]) {
        let mut partial = self.partial.remove(&connection).unwrap_or_default();
        partial.extend_from_slice(bytes);
        let is_raw = self.links.is_raw(connection);
        while let Some(work) = self.console().next_work(connection, &mut partial, is_raw) {
            if let Work::Command { bytes, .. } = &work
                && self.console().is_replication_request(bytes)
            {
                self.links.mark_server(connection);
            }
            self.work.push_back(work);
        }
        self.partial.insert(connection, partial);
    }
}

impl Machine for RealServer {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        if self.has_started && now.monotonic.0 >= self.part.warm_up.0 {
            self.files.run_begins();
        }
        match input {
            Input::Timer if !self.has_started => self.boot(now, out),
            Input::Timer
            | Input::Continue
            | Input::DiskSynced
            | Input::DiskFailed { .. }
            | Input::Unsent { .. } => {}
            Input::Accepted { connection, peer } => self.accept_client(connection, peer, out),
            Input::Received { connection, bytes } => self.receive_from(connection, bytes),
            Input::Closed { connection } => self.work.push_back(Work::End { of: connection }),
            Input::Connected { connection } => {
                if let (Some(group), Some(socket)) =
                    (&mut self.group, self.links.socket(connection))
                {
                    group.deliver(News::Connected(socket));
                }
            }
            Input::ConnectFailed { connection } => {
                if let (Some(group), Some(socket)) = (&mut self.group, self.links.ends(connection))
                {
                    group.deliver(News::Refused(socket));
                }
            }
            Input::Operator { action } => self.work.push_back(Work::Operator(action)),
        }
        self.console_reader.is_loading = false;
        if self.console_reader.console.expires_by_wall() {
            self.judged.report_expired(now.wall, &mut out.list);
        }
        self.run_until_waiting(now, out);
    }

    fn dialled(&mut self, connection: ConnectionId, port: u16) {
        self.dialled.insert(connection, port);
    }

    fn supports(&self, action: OperatorAction) -> bool {
        let has_clients = action != OperatorAction::CloseConnections || self.links.has_clients();
        let is_up = self.group.is_some() && !self.part.is_sentinel();
        is_up && has_clients && self.console_reader.console.supports(action)
    }

    fn will_send(&self) -> bool {
        self.links.has_pending_answer()
    }

    fn sign_of_life(&self) -> fn(&[u8]) -> bool {
        self.console_reader.console.sign_of_life()
    }

    fn lose_power(&mut self) {
        self.files.run_begins();
        self.has_lost_power = true;
    }

    fn fail_syncs(&mut self, error: Option<SyncError>) {
        let errno = error.map(|error| match error {
            SyncError::Io => EIO,
            SyncError::Full => ENOSPC,
        });
        if let Some(group) = &mut self.group {
            group.fail_syncs(errno);
        }
    }

    fn has_failed_sync(&self) -> bool {
        self.has_failed_sync
    }

    fn wording(&self) -> Wording {
        self.console_reader.console.wording()
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        self.end_life();
        if self.has_lost_power
            && let Err(error) = self.files.lose_power()
        {
            let text = format!("its files could not be restored to their last sync: {error}");
            self.part.world.lives.with(self.life, |life| {
                life.ending = Some((life.started, Ending::NotEmulated(text)));
            });
        }
    }
}
