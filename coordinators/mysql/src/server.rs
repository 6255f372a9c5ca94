use crate::client::{Client, Core, Wake};
use crate::error::SqlError;
use crate::locks::SessionId;
use crate::packet::Reply;
use crate::store::log;
use bytes::Bytes;
use fencepost_machine::journal::{self, Check};
use fencepost_machine::wording::Wording;
use fencepost_machine::{
    ConnectionId, DiskImage, Input, KeyChange, Machine, Now, Output, Outputs, TapEvent,
};
use std::collections::{BTreeMap, BTreeSet};

/// MariaDB's default of `max_connections`. The server accepts one more client than that.
const CLIENTS_MAX: usize = 151;
const PURGE_EVERY_US: u64 = 1_000_000;
const LOG_MAX: usize = 1 << 20;
/// Id of the first session. The real server uses lower ids for its own threads.
const FIRST_SESSION: SessionId = 3;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    pub clients_max: usize,
    pub seed: u64,
    /// Prefix of the lock names that the server reports to the judge; `None` reports none. A user
    /// lock has its own name. An exclusively locked row has the name `table/key`, or only the key
    /// if the table is named `locks`.
    pub watch: Option<String>,
    pub schema: String,
}

impl Default for Config {
    fn default() -> Config {
        Config { clients_max: CLIENTS_MAX, seed: 0, watch: None, schema: String::new() }
    }
}

/// A MariaDB server. Committed data survives a restart, but locks do not.
#[derive(Debug)]
pub struct Mysql {
    core: Core,
    clients: BTreeMap<ConnectionId, Client>,
    refused: Vec<ConnectionId>,
    next_session: SessionId,
    config: Config,
    check: Check,
    told: BTreeMap<String, SessionId>,
    checkpoint: Option<DiskImage>,
    purged_at: u64,
}

impl Mysql {
    pub fn new(config: Config, image: &DiskImage) -> Mysql {
        let files = journal::open(image);
        let store = log::replay(files.log);
        let is_new = store.tables.is_empty();
        let mut server = Mysql {
            core: Core { store, ..Core::default() },
            clients: BTreeMap::new(),
            refused: Vec::new(),
            next_session: FIRST_SESSION,
            config,
            check: files.check,
            told: BTreeMap::new(),
            checkpoint: None,
            purged_at: 0,
        };
        if is_new && !server.config.schema.is_empty() {
            server.prepare();
        } else if image.append_only.len() > LOG_MAX {
            server.rewrite();
        }
        server
    }

    fn prepare(&mut self) {
        let mut client = Client::internal(self.core.now);
        for statement in self.config.schema.clone().split(';') {
            client.carry_out(&mut self.core, statement.trim());
        }
        client.leave(&mut self.core);
        self.core.wants.clear();
        (self.core.asked_syncs, self.core.done_syncs) = (0, 0);
        self.rewrite();
    }

    fn rewrite(&mut self) {
        let append_only = log::checkpoint(&self.core.store);
        self.checkpoint = Some(DiskImage { append_only, ..DiskImage::default() });
    }

    fn dispatch(&mut self, input: Input<'_>) {
        match input {
            Input::Timer => {
                for client in self.clients.values_mut() {
                    client.check_timers(&mut self.core);
                }
            }
            Input::Accepted { connection, peer } => self.accept(connection, peer),
            Input::Received { connection, bytes } => {
                if let Some(client) = self.clients.get_mut(&connection) {
                    client.receive(&mut self.core, bytes);
                }
            }
            Input::Continue => {
                if let Some(client) = self.clients.values_mut().find(|client| client.has_more()) {
                    client.serve(&mut self.core);
                }
            }
            Input::Closed { connection } => {
                if let Some(client) = self.clients.get_mut(&connection) {
                    client.hang_up(&mut self.core);
                }
            }
            Input::DiskSynced => {
                self.core.done_syncs += 1;
                for client in self.clients.values_mut() {
                    client.synced(&mut self.core);
                }
            }
            Input::Connected { .. }
            | Input::ConnectFailed { .. }
            | Input::DiskFailed { .. }
            | Input::Unsent { .. }
            | Input::Operator { .. } => {}
        }
    }

    fn accept(&mut self, connection: ConnectionId, peer: &str) {
        if self.clients.len() > self.config.clients_max {
            self.refused.push(connection);
            return;
        }
        let id = self.next_session;
        self.next_session += 1;
        let client = Client::new(id, peer, salt(self.config.seed, id), self.core.now);
        self.core.sessions.insert(id);
        self.clients.insert(connection, client);
    }

    fn settle(&mut self) {
        loop {
            if let Some(id) = self.core.locks.woken.pop_front() {
                if let Some(client) = find(&mut self.clients, id) {
                    client.resume(&mut self.core, Wake::Granted);
                }
            } else if let Some(id) = self.core.store.victims.pop_front() {
                if let Some(client) = find(&mut self.clients, id) {
                    client.resume(&mut self.core, Wake::Deadlock);
                }
            } else if let Some(id) = self.core.store.woken.pop_front() {
                if let Some(client) = find(&mut self.clients, id) {
                    client.resume(&mut self.core, Wake::Granted);
                }
            } else if let Some(id) = self.core.locks.victims.pop_front() {
                if let Some(client) = find(&mut self.clients, id) {
                    client.resume(&mut self.core, Wake::Deadlock);
                }
            } else if let Some((id, is_query)) = self.core.kills.pop() {
                if let Some(client) = find(&mut self.clients, id) {
                    client.kill(&mut self.core, is_query);
                }
            } else if self.purged_at + PURGE_EVERY_US <= self.core.now.monotonic.0 {
                self.purged_at = self.core.now.monotonic.0;
                self.core.store.purge();
            } else {
                return;
            }
        }
    }

    fn report(&mut self, out: &mut Outputs) {
        let Some(prefix) = &self.config.watch else { return };
        let mut now = self.core.store.locked_rows(prefix);
        now.extend(self.core.locks.all(prefix));
        if now == self.told {
            return;
        }
        let names: BTreeSet<&String> = self.told.keys().chain(now.keys()).collect();
        for name in names {
            let (before, after) = (self.told.get(name), now.get(name));
            if before == after {
                continue;
            }
            if let Some(before) = before {
                let by = self.connection(*before, false);
                out.list.push(tap(name, KeyChange::Removed, *before, by));
            }
            if let Some(after) = after {
                let by = self.connection(*after, true);
                out.list.push(tap(name, KeyChange::Granted, *after, by));
            }
        }
        self.told = now;
    }

    fn connection(&self, session: SessionId, even_ending: bool) -> Option<ConnectionId> {
        let found = self.clients.iter().find(|(_, client)| client.session.id == session);
        let is_there = |client: &Client| even_ending || !client.is_gone && !client.is_over;
        found.filter(|(_, client)| is_there(client)).map(|(connection, _)| *connection)
    }

    fn hand_over(&mut self, out: &mut Outputs) {
        if let Some(image) = self.checkpoint.take() {
            out.list.push(Output::DiskReplace { image });
        }
        out.list.append(&mut self.core.wants);
        for connection in self.refused.drain(..) {
            let mut reply = Reply::new(0);
            reply.plain_error(&SqlError::new(1040, "08004", "Too many connections"));
            out.list.push(Output::Send { connection, bytes: reply.into_bytes().freeze() });
            out.list.push(Output::Close { connection });
        }
        for (connection, client) in &mut self.clients {
            let connection = *connection;
            if !client.out.is_empty() && !client.is_gone {
                let bytes = client.out.split().freeze();
                out.list.push(Output::Send { connection, bytes });
            }
            out.commands += std::mem::take(&mut client.commands);
            if client.is_over && !client.is_gone {
                out.list.push(Output::Close { connection });
            }
        }
        self.clients.retain(|_, client| !client.is_over);
        out.more = self.clients.values().any(Client::has_more);
        let due = self.clients.values().filter_map(|client| client.due_in(self.core.now));
        if let Some(micros) = due.min() {
            out.list.push(Output::WakeAfter { micros });
        }
    }
}

fn find(clients: &mut BTreeMap<ConnectionId, Client>, id: SessionId) -> Option<&mut Client> {
    clients.values_mut().find(|client| client.session.id == id && !client.is_over)
}

fn salt(seed: u64, id: SessionId) -> [u8; 20] {
    let mut state = seed.wrapping_add(u64::from(id) << 32);
    std::array::from_fn(|_| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        b'%' + ((mixed ^ (mixed >> 31)) % 90) as u8
    })
}

impl Machine for Mysql {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        if self.check.report(out) {
            return;
        }
        // Like InnoDB, stop if the log cannot be synced.
        if matches!(input, Input::DiskFailed { .. }) {
            out.stopped = true;
            return;
        }
        self.core.now = now;
        self.dispatch(input);
        self.settle();
        self.report(out);
        self.hand_over(out);
    }

    fn will_send(&self) -> bool {
        self.clients.values().any(Client::will_be_answered)
    }

    fn wording(&self) -> Wording {
        crate::wording::wording
    }
}

fn tap(name: &str, change: KeyChange, session: SessionId, by: Option<ConnectionId>) -> Output {
    Output::Tap(TapEvent {
        key: Bytes::copy_from_slice(name.as_bytes()),
        change,
        value: Some(Bytes::from(session.to_string())),
        by,
        expires_at_ms: None,
        primary: true,
        token: None,
    })
}
