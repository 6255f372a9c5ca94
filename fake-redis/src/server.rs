//! The state of one server and its parts.
//!
//! Where to look: `dispatch` chooses, admits and executes commands; `access` is how commands reach
//! keys; `propagation` is where effects go; `connections` is how clients come and go; `cron` is
//! what happens by itself.

mod access;
mod admission;
mod connections;
mod cron;
mod dispatch;
mod propagation;
mod sends;

pub(crate) use propagation::{Effects, Targets};

use crate::args::ArgumentVector;
use crate::blocking::Blocking;
use crate::client::{Client, ClientKey, Role};
use crate::config::NodeConfig;
use crate::interlude::Busy;
use crate::keyspace::Keyspace;
use crate::notify::EventClasses;
use crate::persistence::PersistenceState;
use crate::pubsub::PubSub;
use crate::random::Random;
use crate::recent::Recent;
use crate::replication::Replication;
use crate::reply::Reply;
use crate::script::ScriptCache;
use crate::settings::Settings;
use crate::statistics::Statistics;
use crate::timers::Timers;
use crate::tracking::Tracking;
use crate::transaction::Watches;
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
    pub(crate) attendant: Option<Rc<dyn Attendant>>,
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
    pub(crate) blocking: Blocking,
    /// Which clients are told of changes to what they read.
    pub(crate) tracking: Tracking,
    /// Which clients are shown every command.
    pub(crate) monitors: Vec<ClientKey>,
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
    pub(crate) fn new(config: NodeConfig, seed: u64, now: WallTime) -> Self {
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
            attendant: None,
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
