//! One server: all its parts, and what its table of commands and a call of one of them are.
//!
//! What a server does is in the rooms above, each with methods of [`Server`] of its own.

mod call;
mod command;
mod commands;
mod recent;
mod spares;
mod table;

pub(crate) use call::{Anchor, Call, Effect};
pub(crate) use command::Command;
pub(crate) use commands::Commands;
pub(crate) use spares::Spares;
pub(crate) use table::Table;

use crate::config::NodeConfig;
use crate::data::keyspace::{Database, Entry, Keyspace};
use crate::data::random::Random;
use crate::data::value::Value;
use crate::protocol::error::{CommandError, WRONG_TYPE};
use crate::state::blocking::Blocking;
use crate::state::busy::{Busy, LongScript};
use crate::state::client::Client;
use crate::state::client_key::ClientKey;
use crate::state::clock::Clock;
use crate::state::configuration::Configuration;
use crate::state::effects::Changes;
use crate::state::life::Life;
use crate::state::outbox::Outbox;
use crate::state::pause::Pause;
use crate::state::persistence::PersistenceState;
use crate::state::pubsub::PubSub;
use crate::state::replication::Replication;
use crate::state::roster::Roster;
use crate::state::scripts::ScriptCache;
use crate::state::statistics::Statistics;
use crate::state::timers::Timers;
use crate::state::turn::Turn;
use crate::state::watches::Watches;
use fencepost_machine::{Attendant, WallTime};
use std::rc::Rc;

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

/// One server. No file outside this room assigns one of its parts. Clients, replication and
/// the disk are data that the rooms about them change; the other parts change by their own
/// methods alone, which keep what is true of them.
#[derive(Debug)]
pub(crate) struct Server {
    /// How it is set up.
    pub(crate) config: Configuration,
    /// The wall clock.
    pub(crate) clock: Clock,
    /// How far it is between its start and its end.
    pub(crate) life: Life,
    /// What it wants of its driver.
    pub(crate) outbox: Outbox,
    /// The clients.
    pub(crate) roster: Roster,
    /// Whose command is executed.
    pub(crate) turn: Turn,
    /// A script that runs for long, and who looks after others meanwhile.
    pub(crate) long_script: LongScript<Attendance>,
    /// CLIENT PAUSE.
    pub(crate) pause: Pause,
    /// The data.
    pub(crate) keyspace: Keyspace,
    /// What was changed and is not propagated or saved yet.
    pub(crate) changes: Changes,
    /// Which clients listen to what.
    pub(crate) pubsub: PubSub,
    /// Which clients watch what.
    pub(crate) watches: Watches,
    /// Which clients wait for which keys.
    pub(crate) blocking: Blocking<Attempt>,
    /// The commands that it knows.
    pub(crate) commands: Commands,
    /// The scripts that are known by their SHA-1.
    pub(crate) scripts: ScriptCache,
    /// Counters for INFO.
    pub(crate) statistics: Statistics,
    /// When to be woken.
    pub(crate) timers: Timers,
    /// The only source of randomness.
    pub(crate) random: Random,
    /// Replicas, or the primary.
    pub(crate) replication: Replication,
    /// What the disk holds.
    pub(crate) persistence: PersistenceState,
    /// Memory that is not in use.
    pub(crate) spares: Spares,
}

impl Server {
    /// A server without data that is about to start.
    pub(crate) fn new(config: NodeConfig, table: &'static Table, seed: u64, now: WallTime) -> Self {
        let mut random = Random::new(seed);
        let run_id = random.hexadecimal(40);
        let replication = Replication::new(&config, &mut random);
        Server {
            clock: Clock::started(now, seed),
            life: Life::new(run_id),
            outbox: Outbox::default(),
            roster: Roster::new(now),
            turn: Turn::default(),
            long_script: LongScript::default(),
            pause: Pause::default(),
            keyspace: Keyspace::new(config.databases),
            changes: Changes::default(),
            pubsub: PubSub::default(),
            watches: Watches::default(),
            blocking: Blocking::default(),
            commands: Commands::new(table),
            scripts: ScriptCache::default(),
            statistics: Statistics::default(),
            timers: Timers::default(),
            random,
            replication,
            persistence: PersistenceState::new(&config),
            spares: Spares::default(),
            config: Configuration::new(config),
        }
    }

    /// A client that is there.
    pub(crate) fn client(&self, key: ClientKey) -> &Client {
        self.roster.client(key)
    }

    /// A client that is there, to be changed.
    pub(crate) fn client_mut(&mut self, key: ClientKey) -> &mut Client {
        self.roster.client_mut(key)
    }

    /// A database.
    pub(crate) fn database(&self, db: usize) -> &Database {
        self.keyspace.database(db)
    }

    /// The string at the position of a key, empty if there is no key.
    pub(crate) fn string_at(
        &self,
        db: usize,
        position: Option<usize>,
    ) -> Result<&[u8], CommandError> {
        match position.and_then(|position| self.database(db).at(position)) {
            None => Ok(b""),
            Some((_, Entry { value: Value::String(text), .. })) => Ok(text),
            Some(_) => Err(WRONG_TYPE),
        }
    }

    /// Whether an entry's time is up: if and only if now is later (`keyIsExpired` in db.c). While
    /// data is loaded, nothing expires.
    pub(crate) fn is_expired(&self, entry: &Entry) -> bool {
        entry.expires_at_ms().is_some_and(|at| self.now_ms() > at) && !self.life.is_loading()
    }

    /// Whether it follows a primary.
    pub(crate) fn is_replica(&self) -> bool {
        self.replication.is_replica()
    }

    /// The wall clock in milliseconds.
    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.ms()
    }

    /// Whether CLIENT PAUSE or a failover is in force: then nothing expires or is evicted either.
    pub(crate) fn is_paused(&self) -> bool {
        self.pause.scope().is_some() || self.replication.is_failing_over()
    }
}
