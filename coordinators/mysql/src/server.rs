//! The server as a machine: connections and bytes in, replies out, and a timer for all that becomes
//! too late.

use crate::client::{Client, Core};
use crate::error::SqlError;
use crate::locks::SessionId;
use crate::packet::Reply;
use crate::value::Value;
use bytes::Bytes;
use fencepost_machine::wording::Wording;
use fencepost_machine::{ConnectionId, Input, KeyChange, Machine, Now, Output, Outputs, TapEvent};
use std::collections::BTreeMap;

/// As MariaDB comes (`max_connections`); one more is let in for an administrator.
const CLIENTS_MAX: usize = 151;
/// The number of the first session; those before it are the server's own.
const FIRST_SESSION: SessionId = 3;

/// How the server is set up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// How many clients may be connected (`max_connections`).
    pub clients_max: usize,
    /// From which the salts of the sessions follow.
    pub seed: u64,
    /// The name of the user lock that the judge is told of.
    pub watch: Option<String>,
}

impl Default for Config {
    fn default() -> Config {
        Config { clients_max: CLIENTS_MAX, seed: 0, watch: None }
    }
}

/// One MariaDB server. It has no disk: what outlives it are no locks.
#[derive(Debug)]
pub struct Mysql {
    core: Core,
    clients: BTreeMap<ConnectionId, Client>,
    /// Those that are refused because there are too many.
    refused: Vec<ConnectionId>,
    next_session: SessionId,
    config: Config,
    /// Who had the lock that is watched when that was last told.
    told: Option<SessionId>,
    has_booted: bool,
}

impl Mysql {
    /// A server that nobody is connected to.
    pub fn new(config: Config) -> Mysql {
        Mysql {
            core: Core::default(),
            clients: BTreeMap::new(),
            refused: Vec::new(),
            next_session: FIRST_SESSION,
            config,
            told: None,
            has_booted: false,
        }
    }

    fn dispatch(&mut self, input: Input<'_>) {
        match input {
            Input::Timer => {
                for client in self.clients.values_mut() {
                    client.look_at_clock(&mut self.core);
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
            Input::DiskSynced
            | Input::Connected { .. }
            | Input::ConnectFailed { .. }
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

    /// Lets everybody go on who got what it waited for, and ends whom somebody has ended, until
    /// nobody is left.
    fn settle(&mut self) {
        loop {
            if let Some(id) = self.core.locks.woken.pop_front() {
                if let Some(client) = find(&mut self.clients, id) {
                    client.go_on(&mut self.core, Ok(Value::truth(true)));
                }
            } else if let Some(id) = self.core.locks.victims.pop_front() {
                if let Some(client) = find(&mut self.clients, id) {
                    client.go_on(&mut self.core, Err(SqlError::deadlock()));
                }
            } else if let Some((id, is_query)) = self.core.kills.pop() {
                if let Some(client) = find(&mut self.clients, id) {
                    client.kill(&mut self.core, is_query);
                }
            } else {
                return;
            }
        }
    }

    /// Tells the judge whose lock it is, if that has changed.
    fn tell(&mut self, out: &mut Outputs) {
        let Some(watch) = &self.config.watch else { return };
        let now = self.core.locks.holder(watch.as_bytes());
        if now == self.told {
            return;
        }
        let tap = |change, session: SessionId, by| {
            Output::Tap(TapEvent {
                key: Bytes::from(watch.clone()),
                change,
                value: Some(Bytes::from(session.to_string())),
                by,
                expires_at_ms: None,
                primary: true,
                token: None,
            })
        };
        let of = |session, even_ending: bool| {
            let mut all = self.clients.iter();
            let found = all.find(|(_, client)| client.session.id == session);
            let is_there = |client: &Client| even_ending || !client.is_gone && !client.is_over;
            found.filter(|(_, client)| is_there(client)).map(|(connection, _)| *connection)
        };
        if let Some(before) = self.told {
            out.list.push(tap(KeyChange::Removed, before, of(before, false)));
        }
        if let Some(now) = now {
            out.list.push(tap(KeyChange::Granted, now, of(now, true)));
        }
        self.told = now;
    }

    /// Sends what was said, closes what is over, and asks to be woken.
    fn hand_over(&mut self, out: &mut Outputs) {
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

/// Letters that others do not guess: of a generator (SplitMix64).
fn salt(seed: u64, id: SessionId) -> [u8; 20] {
    let mut state = seed.wrapping_add(u64::from(id) << 32);
    std::array::from_fn(|_| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // Printable, and neither a zero nor a dollar sign.
        b'%' + ((mixed ^ (mixed >> 31)) % 90) as u8
    })
}

impl Machine for Mysql {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        self.core.now = now;
        if !std::mem::replace(&mut self.has_booted, true) {
            self.core.started_at = now.monotonic.0;
        }
        self.dispatch(input);
        self.settle();
        self.tell(out);
        self.hand_over(out);
    }

    /// A wait for a lock ends by itself.
    fn will_send(&self) -> bool {
        self.clients.values().any(Client::will_be_answered)
    }

    fn wording(&self) -> Wording {
        crate::wording::wording
    }
}
