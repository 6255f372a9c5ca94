//! The server as a machine ([`Postgresql`]), with its connections, replies and timer.

mod late;

use crate::client::Client;
use crate::core::{Core, Signal};
use crate::error::SqlError;
use crate::execute::Stop;
use crate::replication::receiver::Receiver;
use crate::session::Session;
use crate::settings::Settings;
use crate::store::Backend;
use crate::store::locks::Locks;
use crate::store::serializable::Serializable;
use crate::store::transactions::Transactions;
use crate::stream::{Log, Replication, Sender};
use crate::wal;
use crate::watch::{Connections, Watch, Watching};
use bytes::Bytes;
use fencepost_machine::journal::{self, Check};
use fencepost_machine::wording::Wording;
use fencepost_machine::{
    ConnectionId, DiskImage, Input, Machine, Now, OperatorAction, Output, Outputs,
};
use std::collections::BTreeMap;

const LOG_MAX: usize = 1024 * 1024;
/// PostgreSQL's default of `max_connections`.
const CLIENTS_MAX: usize = 100;
const FIRST_PID: u32 = 1_001;
/// First process id on a standby, so that a standby's ids differ from the primary's.
const FIRST_STANDBY_PID: u32 = 501_001;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// `true` if the server syncs a commit before it confirms it (`fsync`, `synchronous_commit`).
    pub syncs: bool,
    pub schema: String,
    pub clients_max: usize,
    pub seed: u64,
    pub watch: Option<Watch>,
    pub replication: Replication,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            syncs: true,
            schema: String::new(),
            clients_max: CLIENTS_MAX,
            seed: 0,
            watch: None,
            replication: Replication::None,
        }
    }
}

/// A PostgreSQL server. The driver sends [`Input::Timer`] when the server boots.
#[derive(Debug)]
pub struct Postgresql {
    pub(crate) core: Core,
    clients: BTreeMap<ConnectionId, Client>,
    next_pid: u32,
    seed: u64,
    check: Check,
    has_booted: bool,
    checkpoint: Option<DiskImage>,
    watching: Option<Watching>,
    receiver: Option<Receiver>,
}

impl Postgresql {
    pub fn new(config: Config, image: &DiskImage, now: Now) -> Postgresql {
        let files = journal::open(image);
        let heap = wal::replay(files.log);
        let is_new = heap.tables().next().is_none();
        let next_pid = match config.replication {
            Replication::Standby { .. } => FIRST_STANDBY_PID,
            _ => FIRST_PID,
        };
        // A standby with a stored configuration was promoted earlier, and now starts as a primary.
        let replication = match config.replication {
            Replication::Standby { .. } if files.config.is_some() => {
                Replication::Primary { synchronous: false }
            }
            replication => replication,
        };
        let is_replicated = replication != Replication::None;
        let core = Core {
            now,
            heap,
            locks: Locks::default(),
            transactions: Transactions::new(),
            serializable: Serializable::default(),
            signals: Vec::new(),
            cancels: Vec::new(),
            backends: Vec::new(),
            wants: Vec::new(),
            committed_last: None,
            syncs: config.syncs,
            clients_max: config.clients_max,
            asked_syncs: 0,
            done_syncs: 0,
            log: Log::new(is_replicated, &files.whole_log),
            is_synchronous: false,
            confirmed: 0,
            is_in_recovery: false,
            is_to_be_promoted: false,
        };
        let mut server = Postgresql {
            core,
            clients: BTreeMap::new(),
            next_pid,
            seed: config.seed,
            check: files.check,
            has_booted: false,
            checkpoint: None,
            watching: config.watch.map(Watching::new),
            receiver: None,
        };
        if is_new && !config.schema.is_empty() {
            server.prepare(&config.schema);
            let made = server.checkpoint.as_ref().map(|image| image.append_only.clone());
            server.core.log = Log::new(is_replicated, &made.unwrap_or_default());
        } else if files.whole_log.len() > LOG_MAX && !is_replicated {
            server.rewrite();
        }
        match replication {
            Replication::None => {}
            Replication::Primary { synchronous } => server.core.is_synchronous = synchronous,
            Replication::Standby { primary } => {
                server.core.is_in_recovery = true;
                server.receiver = Some(Receiver::new(primary, &server.core));
            }
        }
        server
    }

    fn prepare(&mut self, schema: &str) {
        let syncs = std::mem::replace(&mut self.core.syncs, false);
        let session = self.session(None);
        let mut client = Client::new(session);
        client.stage = crate::client::Stage::Ready;
        let text = [schema.as_bytes(), b"\0"].concat();
        let length = (text.len() + 4) as u32;
        client.input.extend_from_slice(&[b"Q", &length.to_be_bytes()[..], &text].concat());
        client.serve(&mut self.core);
        client.leave(&mut self.core);
        self.core.syncs = syncs;
        self.core.wants.clear();
        self.rewrite();
    }

    fn rewrite(&mut self) {
        let append_only = wal::checkpoint(&self.core.heap);
        self.checkpoint = Some(DiskImage { append_only, ..DiskImage::default() });
    }

    fn session(&mut self, connection: Option<ConnectionId>) -> Session {
        let pid = self.next_pid;
        self.next_pid += 1;
        let settings = Settings::default();
        Session {
            backend: Backend(pid),
            connection,
            secret: secret(self.seed, pid),
            user: String::new(),
            database: String::new(),
            in_hot_standby: self.core.is_in_recovery,
            first_settings: settings.clone(),
            settings,
            transaction: None,
            prepared: BTreeMap::new(),
            notices: Vec::new(),
        }
    }

    fn boot(&mut self) {
        if let Some(image) = self.checkpoint.take() {
            self.core.wants.push(Output::DiskReplace { image });
        }
        if let Some(watching) = &mut self.watching {
            let told = watching.boot(&self.core);
            self.core.wants.extend(told);
        }
    }

    fn report(&mut self) {
        if let Some(watching) = &mut self.watching {
            let told = watching.take_changes(&self.core, &self.clients);
            self.core.wants.extend(told);
        }
    }

    fn promote(&mut self) {
        (self.core.is_to_be_promoted, self.core.is_in_recovery) = (false, false);
        let Some(receiver) = self.receiver.take() else { return };
        receiver.end(&mut self.core);
        self.core.wants.push(Output::DiskConfig { config: journal::record(b"promoted") });
    }

    fn follow(&mut self, input: &Input<'_>) -> bool {
        let Some(receiver) = &mut self.receiver else { return false };
        let is_own = |connection: &ConnectionId| receiver.owns(*connection);
        match input {
            Input::Connected { connection } if is_own(connection) => {
                receiver.connected(&mut self.core);
            }
            Input::ConnectFailed { connection } | Input::Closed { connection }
                if is_own(connection) =>
            {
                receiver.retry(&self.core);
            }
            Input::Received { connection, bytes } if is_own(connection) => {
                receiver.receive(&mut self.core, bytes);
            }
            _ => return false,
        }
        true
    }

    fn dispatch(&mut self, input: Input<'_>) {
        if self.follow(&input) {
            return;
        }
        match input {
            Input::Timer => {
                if !std::mem::replace(&mut self.has_booted, true) {
                    self.boot();
                }
                self.check_timers();
                if let Some(receiver) = &mut self.receiver {
                    receiver.check_timers(&mut self.core);
                }
            }
            Input::Accepted { connection, .. } => {
                let session = self.session(Some(connection));
                self.clients.insert(connection, Client::new(session));
            }
            Input::Received { connection, bytes } => {
                if let Some(client) = self.clients.get_mut(&connection) {
                    client.input.extend_from_slice(bytes);
                    client.serve(&mut self.core);
                }
            }
            Input::Continue => {
                if let Some(client) = self.clients.values_mut().find(|client| client.has_more()) {
                    client.serve(&mut self.core);
                }
            }
            Input::Closed { connection } => {
                if let Some(client) = self.clients.get_mut(&connection) {
                    client.is_gone = true;
                    client.serve(&mut self.core);
                }
            }
            Input::DiskSynced => {
                self.core.synced();
                if let Some(receiver) = &mut self.receiver {
                    receiver.advance(&mut self.core);
                }
            }
            Input::Operator { action: OperatorAction::Promote } => self.promote(),
            Input::Connected { .. }
            | Input::ConnectFailed { .. }
            | Input::DiskFailed { .. }
            | Input::Unsent { .. }
            | Input::Operator { .. } => {}
        }
    }

    fn settle(&mut self) {
        loop {
            if self.deliver() {
                continue;
            }
            let woken = std::mem::take(&mut self.core.locks.woken);
            let (done, confirmed) = (self.core.done_syncs, self.core.confirmed);
            let is_flushed = |client: &Client| match client.blocked {
                Some(Stop::Flush(wanted)) => wanted <= done,
                Some(Stop::Standby(wanted)) => wanted <= confirmed,
                _ => false,
            };
            let next: Vec<ConnectionId> = self
                .clients
                .iter()
                .filter(|(_, client)| woken.contains(&client.session.backend) || is_flushed(client))
                .map(|(id, client)| (woken.iter().position(|b| *b == client.session.backend), *id))
                .collect::<std::collections::BTreeSet<_>>()
                .into_iter()
                .map(|(_, id)| id)
                .collect();
            if next.is_empty() {
                return;
            }
            for id in next {
                self.resume(id);
            }
        }
    }

    fn resume(&mut self, id: ConnectionId) {
        let Some(client) = self.clients.get_mut(&id) else { return };
        client.advance(&mut self.core);
        if client.is_gone && client.blocked.is_none() {
            client.serve(&mut self.core);
        }
    }

    fn deliver(&mut self) -> bool {
        let known = |backend, secret| {
            let clients = self.clients.values();
            clients
                .map(|client| &client.session)
                .any(|session| session.backend == backend && session.secret == secret)
        };
        let cancels = std::mem::take(&mut self.core.cancels);
        let cancels = cancels.into_iter().filter(|(backend, secret, _)| known(*backend, *secret));
        let cancels: Vec<_> = cancels.map(|(backend, _, signal)| (backend, signal)).collect();
        let signals = std::mem::take(&mut self.core.signals);
        let all: Vec<(Backend, Signal)> = cancels.into_iter().chain(signals).collect();
        for (backend, signal) in &all {
            let client =
                self.clients.values_mut().find(|client| client.session.backend == *backend);
            let Some(client) = client.filter(|client| !client.is_over) else { continue };
            let is_flushing = matches!(client.blocked, Some(Stop::Flush(_)));
            if matches!(client.blocked, Some(Stop::Standby(_))) {
                client.stop_waiting(&mut self.core, *signal == Signal::Terminate);
                continue;
            }
            match signal {
                Signal::Terminate if !is_flushing => {
                    let message = "terminating connection due to administrator command";
                    client.interrupt(&mut self.core, &SqlError::fatal("57P01", message));
                }
                Signal::Cancel if client.blocked.is_some() && !is_flushing => {
                    let message = "canceling statement due to user request";
                    client.interrupt(&mut self.core, &SqlError::new("57014", message));
                }
                _ => {}
            }
        }
        !all.is_empty()
    }

    fn hand_over(&mut self, out: &mut Outputs) {
        out.list.append(&mut self.core.wants);
        for (id, client) in &mut self.clients {
            if !client.out.is_empty() {
                let bytes: Bytes = client.out.split().freeze();
                if !client.is_gone {
                    out.list.push(Output::Send { connection: *id, bytes });
                }
            }
            out.commands += std::mem::take(&mut client.commands);
            if client.is_over && !client.is_gone {
                out.list.push(Output::Close { connection: *id });
            }
        }
        self.clients.retain(|_, client| !client.is_over);
        out.more = self.clients.values().any(Client::has_more);
        let timers = self.clients.values().flat_map(|client| {
            let timers = client.timers;
            let sleep = match client.blocked {
                Some(Stop::Sleep(until)) => Some(until),
                _ => None,
            };
            let sender = client.sender.as_ref().and_then(Sender::ends_at);
            [timers.statement, timers.lock, timers.deadlock, timers.idle, sleep, sender]
        });
        let receiver = self.receiver.as_ref().and_then(Receiver::next_timer);
        if let Some(next) = timers.flatten().chain(receiver).min() {
            let micros = next.saturating_sub(self.core.now.monotonic.0);
            out.list.push(Output::WakeAfter { micros });
        }
    }
}

impl Connections for BTreeMap<ConnectionId, Client> {
    fn of(&self, backend: Backend) -> Option<ConnectionId> {
        let mut open = self.iter().filter(|(_, client)| !client.is_gone && !client.is_over);
        open.find(|(_, client)| client.session.backend == backend).map(|(id, _)| *id)
    }

    fn last_of(&self, backend: Backend) -> Option<ConnectionId> {
        let mut all = self.iter();
        all.find(|(_, client)| client.session.backend == backend).map(|(id, _)| *id)
    }
}

fn secret(seed: u64, pid: u32) -> u32 {
    let mut mixed = seed.wrapping_add(u64::from(pid).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) as u32
}

impl Machine for Postgresql {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        if self.check.report(out) {
            return;
        }
        // As in the real server, a failed sync of the log is a PANIC (`issue_xlog_fsync`).
        if matches!(input, Input::DiskFailed { .. }) {
            out.stopped = true;
            return;
        }
        self.core.now = now;
        self.dispatch(input);
        self.settle();
        if self.core.is_to_be_promoted {
            self.promote();
        }
        self.clients.values_mut().for_each(|client| client.stream(&self.core));
        self.report();
        self.hand_over(out);
    }

    fn supports(&self, action: OperatorAction) -> bool {
        action == OperatorAction::Promote && self.receiver.is_some()
    }

    fn will_send(&self) -> bool {
        self.clients.values().any(|client| {
            let timers = client.timers;
            let is_sleeping = matches!(client.blocked, Some(Stop::Sleep(_)));
            is_sleeping
                || timers.lock.is_some()
                || timers.idle.is_some()
                || (timers.statement.is_some() && client.blocked.is_some())
        })
    }

    fn wording(&self) -> Wording {
        crate::wording::wording
    }
}
