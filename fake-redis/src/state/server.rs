//! A server: its parts, its command table, and the context of a command call.

mod call;
mod command;
mod commands;
mod recent;
mod spares;
mod table;

pub(crate) use call::{Anchor, Call, Effect};
pub(crate) use command::Command;
pub(crate) use commands::Commands;
pub(crate) use spares::SpareBuffers;
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
use fencepost_machine::{InputDriver, WallTime};
use std::rc::Rc;

pub(crate) type Attempt = Box<dyn Fn(&mut Call<'_>) -> Result<bool, CommandError>>;

#[derive(Clone)]
pub(crate) struct DriverCalls {
    pub(crate) driver: Rc<dyn InputDriver>,
    pub(crate) call_driver: fn(&mut Server, &dyn InputDriver, Busy) -> Busy,
}

impl std::fmt::Debug for DriverCalls {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("DriverCalls").finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) config: Configuration,
    pub(crate) clock: Clock,
    pub(crate) life: Life,
    pub(crate) outbox: Outbox,
    pub(crate) roster: Roster,
    pub(crate) turn: Turn,
    pub(crate) long_script: LongScript<DriverCalls>,
    pub(crate) pause: Pause,
    pub(crate) keyspace: Keyspace,
    pub(crate) changes: Changes,
    pub(crate) pubsub: PubSub,
    pub(crate) watches: Watches,
    pub(crate) blocking: Blocking<Attempt>,
    pub(crate) commands: Commands,
    pub(crate) scripts: ScriptCache,
    pub(crate) statistics: Statistics,
    pub(crate) timers: Timers,
    pub(crate) random: Random,
    pub(crate) replication: Replication,
    pub(crate) persistence: PersistenceState,
    pub(crate) spares: SpareBuffers,
}

impl Server {
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
            spares: SpareBuffers::default(),
            config: Configuration::new(config),
        }
    }

    pub(crate) fn client(&self, key: ClientKey) -> &Client {
        self.roster.client(key)
    }

    pub(crate) fn client_mut(&mut self, key: ClientKey) -> &mut Client {
        self.roster.client_mut(key)
    }

    pub(crate) fn database(&self, db: usize) -> &Database {
        self.keyspace.database(db)
    }

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

    /// Returns `false` during loading, when keys never expire (`keyIsExpired` in db.c).
    pub(crate) fn is_expired(&self, entry: &Entry) -> bool {
        entry.expires_at_ms().is_some_and(|at| self.now_ms() > at) && !self.life.is_loading
    }

    pub(crate) fn is_replica(&self) -> bool {
        self.replication.is_replica()
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.ms()
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.pause.scope().is_some() || self.replication.is_failing_over()
    }
}
