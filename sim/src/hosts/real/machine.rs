//! A traced server as a machine: what happens to it is handed to its processes, one command of a
//! client at a time, and what they ask of the network comes back.

mod links;
mod work;

use super::config::Part;
use super::console::{Console, Heard, typed};
use super::judged::{Judged, Role, Trigger};
use bytes::BytesMut;
use fencepost_faults::SimTime;
use fencepost_machine::wording::{self, Wording};
use fencepost_machine::{
    ConnectionId, Input, KeyChange, Machine, Now, OperatorAction, Output, Outputs, WallTime,
};
use fencepost_programs::{Clocks, Ending, Group, News, Request, SyncedFiles};
use links::{Answered, Links};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use std::rc::Rc;
use tempfile::TempDir;
use work::{Work, next_work};

/// From where the console connects: no machine of the world.
const CONSOLE: (Ipv4Addr, u16) = (Ipv4Addr::new(10, 0, 255, 1), 9002);
/// How long before the instant of its start a server is started, so that it serves by then.
const BOOT_US: u64 = 50_000;
/// The monotonic clock of its host begins here, so that it can be started before that.
const MONOTONIC_BEGIN_US: u64 = 1_000_000;
/// Turns of a server within one input.
const TURNS_MAX: u32 = 10_000;

/// The files of a server, which outlive it.
pub(super) struct Files {
    /// Its folder, or why there is none.
    pub(super) folder: Result<TempDir, String>,
    /// What of them is safe from power loss.
    pub(super) synced: RefCell<SyncedFiles>,
}

/// One life of a real server.
pub(super) struct RealServer {
    part: Part,
    files: Rc<Files>,
    group: Option<Group>,
    life: usize,
    links: Links,
    console: Console,
    judged: Judged,
    /// After what the keys are to be read next.
    unread: Option<Trigger>,
    /// After what they are being read.
    reading: Option<Trigger>,
    /// What has arrived and has not been handed to the server.
    work: VecDeque<Work>,
    /// What has arrived of a command that is not whole.
    partial: BTreeMap<ConnectionId, BytesMut>,
    has_started: bool,
    has_lost_power: bool,
    /// It has answered that it loads its data, and is not asked again in this instant.
    is_loading: bool,
    habits: Habits,
}

/// What an operator would find to change.
#[derive(Default)]
struct Habits {
    has_scripts: bool,
    has_stopped_logging: bool,
    writes_alone: bool,
    closes_idle: bool,
}

/// How a step ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stepped {
    /// Every thread waits.
    Idle,
    /// It goes on at another instant, or has ended.
    Busy,
}

impl RealServer {
    pub(super) fn new(part: &Part, files: Rc<Files>, seed: u64, now: Now) -> RealServer {
        let lives = &part.world.lives;
        let life = lives.begins(part.node, SimTime(now.monotonic.0));
        // Only programs speak to the judge.
        lives.with(life, |life| life.has_spoken = true);
        let group = match &files.folder {
            Ok(folder) => {
                Group::start(&part.launch(folder.path(), seed)).map_err(|error| error.to_string())
            }
            Err(why) => Err(format!("no folder for its files: {why}")),
        };
        if let Err(why) = &group {
            let ending = Ending::NotEmulated(format!("could not be started: {why}"));
            lives.with(life, |life| life.ending = Some((SimTime(now.monotonic.0), ending)));
        }
        RealServer {
            part: part.clone(),
            files,
            group: group.ok(),
            life,
            links: Links::default(),
            console: Console::default(),
            judged: Judged::default(),
            unread: None,
            reading: None,
            work: VecDeque::new(),
            partial: BTreeMap::new(),
            has_started: false,
            has_lost_power: false,
            is_loading: false,
            habits: Habits::default(),
        }
    }

    /// Starts the server a little before this instant, until it serves.
    fn boots(&mut self, now: Now, out: &mut Outputs) {
        self.has_started = true;
        self.unread = Some(Trigger::Start);
        let mut left_us = BOOT_US;
        while left_us > 0 {
            let then =
                Now { wall: WallTime(now.wall.0 - left_us as i64), monotonic: now.monotonic };
            let (stepped, wake_after_us) = self.steps(then, left_us, out);
            if self.group.is_none() || (self.serves() && stepped == Stepped::Idle) {
                return;
            }
            if stepped == Stepped::Idle && self.asks_console() {
                continue;
            }
            self.is_loading = false;
            left_us = left_us.saturating_sub(wake_after_us.unwrap_or(1_000).clamp(1, 1_000));
        }
    }

    /// Whether the judge has read what it holds.
    fn serves(&self) -> bool {
        self.console.socket.is_some() && self.unread.is_none() && self.reading.is_none()
    }

    /// Lets the server go on and hands it what has arrived, as far as that can be told apart.
    fn goes_on(&mut self, now: Now, out: &mut Outputs) {
        let mut has_served = false;
        for _ in 0..TURNS_MAX {
            let (stepped, wake_after_us) = self.steps(now, 0, out);
            if let Some(micros) = wake_after_us {
                out.list.retain(|output| !matches!(output, Output::WakeAfter { .. }));
                out.list.push(Output::WakeAfter { micros });
            }
            if stepped == Stepped::Busy || self.group.is_none() {
                return;
            }
            if self.asks_console() {
                continue;
            }
            let Some(work) = self.work.front() else { return };
            let is_command = matches!(work, Work::Command { .. });
            if is_command && has_served {
                out.more = true;
                return;
            }
            if work.is_alone() && self.console.is_waiting() {
                return;
            }
            has_served |= is_command;
            self.does_next(now, out);
        }
    }

    /// Connects the console, or reads the keys. Whether anything was asked.
    fn asks_console(&mut self) -> bool {
        let Some(group) = &mut self.group else { return false };
        let Some(socket) = self.console.socket else {
            let Some(socket) = group.incoming(CONSOLE, self.part.port()) else { return false };
            self.console.opens(socket);
            self.unread = self.unread.take().or(self.reading.take());
            if self.part.is_sentinel() {
                (self.unread, self.reading) = (None, None);
                group.deliver(News::Received(socket, Console::subscribe()));
            }
            return true;
        };
        if self.console.is_waiting() || self.is_loading {
            return false;
        }
        let (Some(cause), Some(prefix)) = (self.unread.take(), &self.part.tap_prefix) else {
            return false;
        };
        let is_since_7 = self.part.binary.is_at_least(7, 0);
        group.deliver(News::Received(socket, self.console.read(prefix, is_since_7)));
        self.reading = Some(cause);
        true
    }

    /// Hands the next thing that has arrived to the server.
    fn does_next(&mut self, now: Now, out: &mut Outputs) {
        let (Some(work), Some(group)) = (self.work.pop_front(), &mut self.group) else { return };
        match work {
            Work::Command { by, bytes, cause } => {
                self.judged.expires(now.wall, &mut out.list);
                out.commands += 1;
                if let Some(socket) = self.links.asks(by) {
                    group.deliver(News::Received(socket, bytes));
                }
                if cause.is_some() && !self.part.is_sentinel() {
                    self.unread = cause;
                }
            }
            Work::Raw { by, bytes } => {
                if let Some(socket) = self.links.socket(by) {
                    group.deliver(News::Received(socket, bytes));
                }
                if !self.part.is_sentinel() {
                    self.unread.get_or_insert(Trigger::Itself);
                }
            }
            Work::End { of } => {
                if let Some(socket) = self.links.ends(of) {
                    group.deliver(News::Ended(socket));
                }
            }
            Work::Operator(action) => self.operates(action),
        }
    }

    fn operates(&mut self, action: OperatorAction) {
        let (Some(group), Some(socket)) = (&mut self.group, self.console.socket) else { return };
        let part = &self.part;
        let address = |server: u16| {
            let host = format!("redis-{server}");
            part.address(&host).map_or(host, |address| address.to_string())
        };
        let typed = typed(action, address);
        group.deliver(News::Received(socket, self.console.types(&typed)));
        match action {
            OperatorAction::StopLogging => self.habits.has_stopped_logging = true,
            OperatorAction::WriteAlone => self.habits.writes_alone = true,
            OperatorAction::CloseIdle => self.habits.closes_idle = true,
            OperatorAction::ForgetScripts => self.habits.has_scripts = false,
            _ => {}
        }
        self.unread = Some(Trigger::Operator(match action {
            OperatorAction::FlushAll => Some(KeyChange::Flushed),
            OperatorAction::Evict => Some(KeyChange::Evicted),
            _ => None,
        }));
    }

    /// Lets every thread run until it waits, `before_us` before the instant.
    fn steps(&mut self, now: Now, before_us: u64, out: &mut Outputs) -> (Stepped, Option<u64>) {
        let Some(group) = &mut self.group else { return (Stepped::Busy, None) };
        let monotonic_us = MONOTONIC_BEGIN_US + now.monotonic.0 - before_us;
        let step = group.step(Clocks { wall_us: now.wall.0, monotonic_us });
        let output = group.take_output();
        let at = SimTime(now.monotonic.0);
        self.part.world.lives.with(self.life, |life| {
            life.output.extend(output.into_iter().map(|one| (at, one.channel, one.bytes)));
        });
        for request in step.requests {
            self.carries_out(request, out);
        }
        if let Some(ending) = step.ending {
            self.ends(at, ending, out);
            return (Stepped::Busy, None);
        }
        (if step.is_idle { Stepped::Idle } else { Stepped::Busy }, step.wake_after_us)
    }

    fn carries_out(&mut self, request: Request, out: &mut Outputs) {
        match request {
            Request::Connect { socket, host, port } => {
                let connection = self.links.opens(socket);
                out.list.push(Output::Connect { connection, host, port });
            }
            Request::Send { socket, bytes } if self.console.socket == Some(socket) => {
                self.hears_console(&bytes, out);
            }
            Request::Send { socket, bytes } => {
                let Some((connection, answered)) = self.links.answers(socket) else { return };
                let cause = match answered {
                    Answered::AtOnce => None,
                    Answered::Unasked => Some(Trigger::Itself),
                    Answered::Late => Some(Trigger::of(connection)),
                };
                if let Some(cause) = cause.filter(|_| !self.part.is_sentinel()) {
                    self.unread.get_or_insert(cause);
                }
                out.list.push(Output::Send { connection, bytes: bytes.into() });
            }
            Request::Shutdown { socket } | Request::Close { socket } => {
                if self.console.socket == Some(socket) {
                    self.unread = self.unread.take().or(self.reading.take());
                    self.console.closes();
                } else if let Some(connection) = self.links.closes(socket) {
                    out.list.push(Output::Close { connection });
                }
            }
        }
    }

    fn hears_console(&mut self, bytes: &[u8], out: &mut Outputs) {
        let part = &self.part;
        for heard in self.console.hears(bytes, |address| part.host_at(address)) {
            match heard {
                Heard::Notice(notice) => out.list.push(Output::Notice(notice)),
                Heard::Reading(reading) => {
                    let Some(cause) = self.reading.take() else { continue };
                    if let Trigger::Command { by, .. } = cause {
                        self.links.is_read(by);
                    }
                    match reading {
                        Some(reading) => self.judged.takes(reading, &cause, &mut out.list),
                        None => {
                            self.is_loading = true;
                            self.unread = self.unread.take().or(Some(cause));
                        }
                    }
                }
            }
        }
    }

    /// The server has ended by itself.
    fn ends(&mut self, at: SimTime, ending: Ending, out: &mut Outputs) {
        let closed = self.links.close_all().into_iter();
        out.list.extend(closed.map(|connection| Output::Close { connection }));
        self.part.world.lives.with(self.life, |life| life.ending = Some((at, ending)));
        out.stopped = true;
        self.is_buried();
    }

    /// Its processes are gone; what they leave behind is kept.
    fn is_buried(&mut self) {
        let Some(mut group) = self.group.take() else { return };
        self.files.synced.borrow_mut().extend(group.take_synced());
        let (dropped, preempted) = (group.output_dropped(), group.preempted());
        let calls = group.calls().to_vec();
        self.part.world.lives.with(self.life, |life| {
            (life.calls, life.preempted, life.output_dropped) = (calls, preempted, dropped);
        });
    }

    fn is_accepted(&mut self, connection: ConnectionId, peer: &str, out: &mut Outputs) {
        let (host, port) = peer.rsplit_once(':').unwrap_or((peer, "0"));
        let host = host
            .parse()
            .map_or(host.to_owned(), |node: fencepost_faults::Node| node.machine().to_string());
        let from = (self.part.address(&host), port.parse().ok());
        let socket = match (&mut self.group, from) {
            (Some(group), (Some(address), Some(port))) => {
                group.incoming((address, port), self.part.port())
            }
            _ => None,
        };
        match socket {
            Some(socket) => self.links.accepts(connection, socket),
            None => out.list.push(Output::Close { connection }),
        }
    }

    fn receives(&mut self, connection: ConnectionId, bytes: &[u8]) {
        let partial = self.partial.entry(connection).or_default();
        partial.extend_from_slice(bytes);
        let is_raw = self.links.is_raw(connection);
        while let Some(work) = next_work(connection, partial, is_raw) {
            if let Work::Command { cause: Some(_), bytes, .. } = &work {
                self.habits.has_scripts |= bytes.windows(4).any(|word| word == b"EVAL");
            }
            if work.begins_replication() {
                self.links.is_replica(connection);
            }
            self.work.push_back(work);
        }
    }
}

impl Machine for RealServer {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        match input {
            Input::Timer if !self.has_started => self.boots(now, out),
            Input::Timer | Input::Continue | Input::DiskSynced | Input::Unsent { .. } => {}
            Input::Accepted { connection, peer } => self.is_accepted(connection, peer, out),
            Input::Received { connection, bytes } => self.receives(connection, bytes),
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
        self.is_loading = false;
        self.judged.expires(now.wall, &mut out.list);
        self.goes_on(now, out);
    }

    fn supports(&self, action: OperatorAction) -> bool {
        if self.group.is_none() || self.part.is_sentinel() {
            return false;
        }
        let habits = &self.habits;
        match action {
            OperatorAction::FlushAll | OperatorAction::Evict | OperatorAction::Follow { .. } => {
                true
            }
            // Sentinel promotes.
            OperatorAction::Promote => false,
            OperatorAction::ForgetScripts => habits.has_scripts,
            OperatorAction::CloseConnections => self.links.has_clients(),
            OperatorAction::HandOver => {
                let has_replicas =
                    matches!(self.judged.role, Some(Role::Primary { replicas: 1.. }));
                has_replicas && self.part.binary.is_at_least(6, 2)
            }
            OperatorAction::StopLogging => self.part.has_log && !habits.has_stopped_logging,
            OperatorAction::WriteAlone => self.part.min_replicas > 0 && !habits.writes_alone,
            OperatorAction::CloseIdle => !habits.closes_idle,
        }
    }

    fn will_send(&self) -> bool {
        self.links.owes_an_answer()
    }

    fn lose_power(&mut self) {
        self.has_lost_power = true;
    }

    fn wording(&self) -> Wording {
        wording::resp
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        self.is_buried();
        if self.has_lost_power
            && let Ok(folder) = &self.files.folder
            && let Err(error) = self.files.synced.borrow().restore(folder.path())
        {
            let text = format!("its files could not be taken back to what was synced: {error}");
            self.part.world.lives.with(self.life, |life| {
                life.ending = Some((life.started, Ending::NotEmulated(text)));
            });
        }
    }
}
