//! One server: all its parts, and what its table of commands and a call of one of them are.
//!
//! What a server does is in the rooms above, each with methods of [`Server`] of its own.

mod call;
mod command;
mod recent;
mod table;

pub(crate) use call::{Anchor, Call, Effect};
pub(crate) use command::Command;
pub(crate) use recent::Recent;
pub(crate) use table::Table;

use crate::config::NodeConfig;
use crate::config::events::EventClasses;
use crate::config::kept::Settings;
use crate::data::keyspace::{Database, Entry, Keyspace};
use crate::data::random::Random;
use crate::protocol::args::ArgumentVector;
use crate::protocol::error::CommandError;
use crate::protocol::reply::Reply;
use crate::state::blocking::Blocking;
use crate::state::busy::Busy;
use crate::state::client::{Client, Role};
use crate::state::client_key::ClientKey;
use crate::state::effects::{Effects, Targets};
use crate::state::persistence::PersistenceState;
use crate::state::pubsub::PubSub;
use crate::state::replication::Replication;
use crate::state::scripts::ScriptCache;
use crate::state::statistics::Statistics;
use crate::state::timers::Timers;
use crate::state::tracking::Tracking;
use crate::state::watches::Watches;
use fencepost_machine::{Attendant, ConnectionId, Output, Outputs, WallTime};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use slab::Slab;
use std::collections::VecDeque;
use std::rc::Rc;

/// Commands that are delayed by CLIENT PAUSE.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum PauseScope {
    /// Those that may write.
    Writes,
    /// All.
    All,
}

/// A CLIENT PAUSE that has not ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pause {
    /// What is delayed.
    pub(crate) scope: PauseScope,
    /// Until when, in wall-clock milliseconds.
    pub(crate) until_ms: i64,
}

/// What a client that waits wants done as soon as it can be. Writes the reply; false if it still
/// cannot.
pub(crate) type Attempt = Box<dyn Fn(&mut Call<'_>) -> Result<bool, CommandError>>;

/// How others are looked after while a script runs.
#[derive(Clone)]
pub(crate) struct Attendance {
    /// Who has the clock and the sockets.
    pub(crate) attendant: Rc<dyn Attendant>,
    /// Has the attendant look after the others; what became of the script meanwhile.
    pub(crate) attend: fn(&mut Server, &dyn Attendant, Busy) -> Busy,
}

impl std::fmt::Debug for Attendance {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Attendance").finish_non_exhaustive()
    }
}

/// One server.
#[derive(Debug)]
pub(crate) struct Server {
    /// How it is set up; CONFIG SET changes it.
    pub(crate) config: NodeConfig,
    /// Parameters of redis.conf that are kept but mean nothing here.
    pub(crate) settings: Settings,
    /// The wall clock, frozen while an input is handled.
    pub(crate) now: WallTime,
    /// When it started.
    pub(crate) started_at: WallTime,
    /// What the current input made it want; swapped with the driver's.
    pub(crate) outputs: Outputs,
    /// Messages that leave at the end of the input, after the append-only file was written.
    pub(crate) sends: Vec<Output>,
    /// The data.
    pub(crate) keyspace: Keyspace,
    /// The clients, the fixed ones of [`ClientKey`] first.
    pub(crate) clients: Slab<Client>,
    /// Which client is behind a connection.
    pub(crate) connections: IndexMap<ConnectionId, ClientKey, FxBuildHasher>,
    /// Clients with a complete command, in the order in which they are served.
    pub(crate) ready: VecDeque<ClientKey>,
    /// The number of the next client.
    pub(crate) next_client_id: u64,
    /// The client whose command is executed: the outermost one, not the script's.
    pub(crate) acting: Option<ClientKey>,
    /// What changed in the current command or transaction and is not propagated yet.
    pub(crate) effects: Effects,
    /// Who is told of effects: everybody, unless a script called `redis.set_repl`.
    pub(crate) effect_targets: Targets,
    /// How many changes were made since the last save.
    pub(crate) dirty: u64,
    /// Whether the first timer came.
    pub(crate) booted: bool,
    /// Whether the data is being loaded: nothing expires, is refused or is propagated.
    pub(crate) loading: bool,
    /// Who looks after others while a script runs, if anybody does.
    pub(crate) attendance: Option<Attendance>,
    /// While others are looked after in the middle of a script: everything but SCRIPT KILL and the
    /// like is refused with `-BUSY`.
    pub(crate) busy: Option<Busy>,
    /// SHUTDOWN: nobody is served any more.
    pub(crate) stopped: bool,
    /// Whether memory was full and nothing could be evicted when the current command was admitted.
    pub(crate) is_out_of_memory: bool,
    /// CLIENT PAUSE.
    pub(crate) pause: Option<Pause>,
    /// DEBUG SLEEP: nothing is served and nothing is sent until then.
    pub(crate) asleep_until: Option<WallTime>,
    /// Which clients listen to what.
    pub(crate) pubsub: PubSub,
    /// Which keyspace events are published.
    pub(crate) events: EventClasses,
    /// Which clients watch what.
    pub(crate) watches: Watches,
    /// Which clients wait for which keys.
    pub(crate) blocking: Blocking<Attempt>,
    /// Which clients are told of changes to what they read.
    pub(crate) tracking: Tracking,
    /// Which clients are shown every command.
    pub(crate) monitors: Vec<ClientKey>,
    /// All commands by their names.
    pub(crate) table: &'static Table,
    /// Commands that were called lately.
    pub(crate) recent: Recent,
    /// The scripts that are known by their SHA-1.
    pub(crate) scripts: ScriptCache,
    /// Counters for INFO.
    pub(crate) statistics: Statistics,
    /// When to be woken.
    pub(crate) timers: Timers,
    /// The only source of randomness.
    pub(crate) random: Random,
    /// Forty hexadecimal digits that are new in every process.
    pub(crate) run_id: String,
    /// Replicas, or the primary.
    pub(crate) replication: Replication,
    /// What the disk holds.
    pub(crate) persistence: PersistenceState,
    /// Reply buffers that are not in use.
    pub(crate) spare_replies: Vec<Reply>,
    /// Memory for the arguments of commands that scripts call.
    pub(crate) spare_arguments: ArgumentVector,
}

impl Server {
    /// A server without data that is about to start.
    pub(crate) fn new(config: NodeConfig, table: &'static Table, seed: u64, now: WallTime) -> Self {
        let mut random = Random::new(seed);
        let run_id = random.hexadecimal(40);
        let replication = Replication::new(&config, &mut random);
        let mut server = Server {
            settings: Settings::default(),
            now,
            started_at: now,
            outputs: Outputs::default(),
            sends: Vec::new(),
            keyspace: Keyspace::new(config.databases),
            clients: Slab::new(),
            connections: IndexMap::default(),
            ready: VecDeque::new(),
            next_client_id: 1,
            acting: None,
            effects: Effects::default(),
            effect_targets: Targets::ALL,
            dirty: 0,
            booted: false,
            loading: false,
            attendance: None,
            busy: None,
            stopped: false,
            is_out_of_memory: false,
            pause: None,
            asleep_until: None,
            pubsub: PubSub::default(),
            events: EventClasses::parse(config.notify_keyspace_events.as_bytes())
                .unwrap_or_default(),
            watches: Watches::default(),
            blocking: Blocking::default(),
            tracking: Tracking::default(),
            monitors: Vec::new(),
            table,
            recent: Recent::default(),
            scripts: ScriptCache::default(),
            statistics: Statistics::default(),
            timers: Timers::default(),
            random,
            run_id,
            replication,
            persistence: PersistenceState::new(&config),
            spare_replies: Vec::new(),
            spare_arguments: ArgumentVector::default(),
            config,
        };
        for role in [Role::Script, Role::Primary, Role::Disk, Role::Operator] {
            server.clients.insert(Client::new(0, role, None, now));
        }
        server
    }

    /// A client that is there.
    pub(crate) fn client(&self, key: ClientKey) -> &Client {
        &self.clients[key.0]
    }

    /// A client that is there, to be changed.
    pub(crate) fn client_mut(&mut self, key: ClientKey) -> &mut Client {
        &mut self.clients[key.0]
    }

    /// A database.
    pub(crate) fn database(&self, db: usize) -> &Database {
        self.keyspace.database(db)
    }

    /// Whether an entry's time is up: if and only if now is later (`keyIsExpired` in db.c). While
    /// data is loaded, nothing expires.
    pub(crate) fn is_expired(&self, entry: &Entry) -> bool {
        entry.expires_at_ms().is_some_and(|at| self.now_ms() > at) && !self.loading
    }

    /// Whether it follows a primary.
    pub(crate) fn is_replica(&self) -> bool {
        self.replication.is_replica()
    }

    /// The wall clock in milliseconds.
    pub(crate) fn now_ms(&self) -> i64 {
        self.now.as_millis()
    }

    /// Whether CLIENT PAUSE or a failover is in force: then nothing expires or is evicted either.
    pub(crate) fn is_paused(&self) -> bool {
        self.pause.is_some() || self.replication.is_failing_over()
    }

    /// A reply buffer to write to; hand it back to `spare_replies`.
    pub(crate) fn spare_reply(&mut self) -> Reply {
        let mut reply = self.spare_replies.pop().unwrap_or_default();
        // That of a script's last command is given back as it is.
        reply.truncate(0);
        reply
    }
}
