use crate::config::Config;
use crate::connection::{self, Connection, Identity, PEER_GREETING, idle_until};
use crate::counts::Counts;
use crate::member::election::Election;
use crate::member::follower::Follower;
use crate::member::leader::Leader;
use crate::member::links::Links;
use crate::store::Store;
use crate::tap::{HeadChange, LockHeads};
use crate::waiting::Waiting;
use crate::watches::Watches;
use crate::wording;
use bytes::Bytes;
use fencepost_machine::journal::{self, Check};
use fencepost_machine::wording::Wording;
use fencepost_machine::{ConnectionId, DiskImage, Input, Machine, Now, Output, Outputs};
use std::collections::{BTreeMap, VecDeque};

/// A ZooKeeper server, alone or in an ensemble. The driver boots it with [`Input::Timer`].
#[derive(Debug)]
pub struct ZooKeeper {
    pub(crate) config: Config,
    pub(crate) now: Now,
    pub(crate) out: Outputs,
    pub(crate) store: Store,
    check: Check,
    pub(crate) connections: BTreeMap<ConnectionId, Connection>,
    pub(crate) watches: Watches,
    pub(crate) queues: BTreeMap<i64, VecDeque<Waiting>>,
    pub(crate) role: Role,
    pub(crate) election: Election,
    pub(crate) links: Links,
    pub(crate) heads: LockHeads,
    pub(crate) next_session: i64,
    pub(crate) counts: Counts,
    pub(crate) last_served: ConnectionId,
    has_booted: bool,
    armed: Option<u64>,
}

#[derive(Debug)]
pub(crate) enum Role {
    Looking,
    Following(Follower),
    Leading(Leader),
}

impl ZooKeeper {
    pub fn new(config: Config, disk: &DiskImage, now: Now) -> ZooKeeper {
        let now_ms = now.monotonic.0 / 1_000;
        let started = (now_ms << 24) >> 8;
        let files = journal::open(disk);
        ZooKeeper {
            store: Store::load(&files),
            check: files.check,
            connections: BTreeMap::new(),
            watches: Watches::default(),
            queues: BTreeMap::new(),
            role: Role::Looking,
            election: Election::new(config.me, config.majority()),
            links: Links::new(),
            heads: LockHeads::new(config.tap_prefix.clone()),
            next_session: (started | u64::from(config.me) << 56).cast_signed(),
            counts: Counts::default(),
            last_served: ConnectionId(0),
            out: Outputs::default(),
            has_booted: false,
            armed: None,
            config,
            now,
        }
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.now.monotonic.0 / 1_000
    }

    pub(crate) fn is_serving(&self) -> bool {
        match &self.role {
            Role::Looking => false,
            Role::Following(follower) => follower.is_serving(),
            Role::Leading(leader) => leader.is_serving(),
        }
    }

    pub(crate) fn send(&mut self, connection: ConnectionId, bytes: Bytes) {
        self.out.list.push(Output::Send { connection, bytes });
    }

    fn boot(&mut self) {
        self.has_booted = true;
        let changes = self.heads.compare_heads(None, &self.store.tree);
        self.report(changes, None);
        self.store.sync(&mut self.out.list);
        if self.config.is_alone() {
            self.lead();
        } else {
            self.start_election();
        }
    }

    pub(crate) fn report(&mut self, changes: Vec<HeadChange>, by: Option<ConnectionId>) {
        let is_primary = matches!(&self.role, Role::Leading(leader) if leader.is_serving());
        for one in changes {
            let by = if one.is_grant() { self.connection_of(one.session()) } else { by };
            self.out.list.push(Output::Tap(one.event(by, is_primary)));
        }
    }

    fn dispatch(&mut self, input: Input<'_>) {
        match input {
            Input::Timer => {
                self.armed = None;
                if self.has_booted {
                    self.wake();
                } else {
                    self.boot();
                }
            }
            Input::Accepted { connection, peer } => {
                let idle_until_ms = idle_until(0, self.now_ms());
                self.connections.insert(connection, Connection::new(peer, idle_until_ms));
                self.limit_unknown_connections();
            }
            Input::Received { connection, bytes } => self.received(connection, bytes),
            Input::Continue => {}
            Input::Closed { connection } | Input::ConnectFailed { connection } => {
                self.lost(connection);
            }
            Input::Connected { connection } => self.connected(connection),
            Input::DiskSynced => {
                self.store.disk_synced(&mut self.out.list);
                self.synced();
            }
            // This also shuts down the real server (`SyncRequestProcessor.run`).
            Input::DiskFailed { .. } => self.out.stopped = true,
            Input::Unsent { .. } | Input::Operator { .. } => {}
        }
    }

    fn received(&mut self, connection: ConnectionId, bytes: &[u8]) {
        if !connection.was_accepted() {
            return self.receive_from_leader(connection, bytes);
        }
        let now_ms = self.now_ms();
        let Some(open) = self.connections.get_mut(&connection) else { return };
        open.input.extend_from_slice(bytes);
        open.touch(now_ms);
        if matches!(open.identity, Identity::Unknown) {
            self.recognise(connection);
        }
        if let Some(Connection { identity: Identity::Peer(_), .. }) =
            self.connections.get(&connection)
        {
            self.peer_said(connection);
        }
    }

    fn recognise(&mut self, connection: ConnectionId) {
        let Some(open) = self.connections.get_mut(&connection) else { return };
        let Some(first) = open.input.first_chunk::<4>() else { return };
        if first == PEER_GREETING && !self.config.is_alone() {
            open.identity = Identity::Peer(None);
            let _ = open.input.split_to(4);
        } else {
            self.greet(connection);
        }
    }

    fn lost(&mut self, connection: ConnectionId) {
        if connection.was_accepted() {
            self.connections.remove(&connection);
            self.watches.forget(connection);
            self.learner_lost(connection);
        } else {
            self.links.lost(connection);
            self.leader_lost(connection);
        }
    }

    fn wake(&mut self) {
        match &self.role {
            Role::Looking => self.wake_election(),
            Role::Following(_) => self.wake_follower(),
            Role::Leading(_) => self.wake_leader(),
        }
        let now_ms = self.now_ms();
        let idle = self.connections.iter().filter(|(_, open)| open.is_idle(now_ms));
        let idle: Vec<ConnectionId> = idle.map(|(connection, _)| *connection).collect();
        idle.into_iter().for_each(|connection| self.hang_up(connection));
    }

    fn next_due(&self) -> Option<u64> {
        let idle = self.connections.values().filter_map(Connection::idle_due).min();
        let role = match &self.role {
            Role::Looking => Some(self.election.next_due()),
            Role::Following(follower) => Some(follower.next_due()),
            Role::Leading(leader) => leader.next_due(),
        };
        role.into_iter().chain(idle).min()
    }

    fn arm(&mut self) {
        let due = self.next_due();
        if !self.has_booted || due == self.armed {
            return;
        }
        self.armed = due;
        if let Some(due) = due {
            let micros = (due * 1_000).saturating_sub(self.now.monotonic.0);
            self.out.list.push(Output::WakeAfter { micros });
        }
    }
}

impl Machine for ZooKeeper {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        if self.check.report(out) {
            return;
        }
        std::mem::swap(&mut self.out, out);
        self.now = now;
        let is_service = matches!(input, Input::Received { .. } | Input::Continue);
        self.dispatch(input);
        if is_service {
            self.serve_next();
        }
        self.out.more = self.has_more();
        self.arm();
        std::mem::swap(&mut self.out, out);
    }

    fn is_ready(&self) -> bool {
        self.is_serving()
    }

    fn will_send(&self) -> bool {
        !self.store.tree.sessions.is_empty()
    }

    fn sign_of_life(&self) -> fn(&[u8]) -> bool {
        connection::is_ping
    }

    fn wording(&self) -> Wording {
        wording::zookeeper
    }
}
