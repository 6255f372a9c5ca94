//! What happens by itself when its time comes.

use super::{Pause, PauseScope, Server};
use crate::notify::EventClass;
use crate::timers::Timer;
use fencepost_machine::WallTime;

impl Server {
    /// The driver's wake-up came: the first one is the boot.
    pub(crate) fn timer(&mut self) {
        self.timers.woken();
        if !self.booted {
            self.booted = true;
            self.load_found();
            self.start_replication();
        }
        self.keep_replication_cron();
        self.run_due_timers();
    }

    /// Does everything whose time has come.
    pub(crate) fn run_due_timers(&mut self) {
        if !self.timers.any_due(self.now) {
            return;
        }
        if self.timers.take_if_due(Timer::SleepEnd, self.now) {
            self.asleep_until = None;
            self.read_link();
        }
        if self.timers.take_if_due(Timer::BlockedClient, self.now) {
            self.end_waits();
            self.end_blocked();
        }
        if self.timers.take_if_due(Timer::PauseEnd, self.now) {
            self.end_pause();
        }
        if self.timers.take_if_due(Timer::ActiveExpiry, self.now) {
            self.delete_expired();
        }
        if self.timers.take_if_due(Timer::Replication, self.now) {
            self.replication_cron();
        }
        if self.timers.take_if_due(Timer::OutputLimit, self.now) {
            self.check_output_limits();
        }
        if self.timers.take_if_due(Timer::Persistence, self.now) {
            self.persistence_cron();
        }
    }

    /// Whether the time of a client that is held back or blocked will run out.
    pub(crate) fn answers_later(&self) -> bool {
        [Timer::BlockedClient, Timer::PauseEnd, Timer::SleepEnd]
            .into_iter()
            .any(|timer| self.timers.is_set(timer))
    }

    /// Whether keys will expire, and clients may hear of that.
    pub(crate) fn tells_of_expiry(&self) -> bool {
        let is_told = self.events.has(EventClass::Expired) || self.tracking.clients() > 0;
        is_told && self.keyspace.iter().any(|(_, _, entry)| entry.expires_at_ms().is_some())
    }

    /// Begins CLIENT PAUSE, or makes it longer and wider: the more severe of what was asked for is
    /// in force.
    pub(crate) fn pause_clients(&mut self, scope: PauseScope, until_ms: i64) {
        let asked = Pause { scope, until_ms };
        let pause = self.pause.map_or(asked, |old| Pause {
            scope: old.scope.max(scope),
            until_ms: old.until_ms.max(until_ms),
        });
        self.pause = Some(pause);
        self.timers.set(Timer::PauseEnd, Some(WallTime(pause.until_ms.saturating_mul(1_000))));
    }

    /// Ends CLIENT PAUSE: the commands that waited are served in the order in which their clients
    /// came.
    pub(crate) fn end_pause(&mut self) {
        self.pause = None;
        self.timers.set(Timer::PauseEnd, None);
        self.resume_postponed();
    }

    /// Has the commands looked at again that were held back.
    pub(crate) fn resume_postponed(&mut self) {
        let mut waiting: Vec<_> = self.connections.values().copied().collect();
        waiting.retain(|key| self.client(*key).postponed);
        waiting.sort_by_key(|key| self.client(*key).active_at);
        for key in waiting {
            let client = self.client_mut(key);
            client.postponed = false;
            client.queued = true;
            self.ready.push_back(key);
        }
    }

    /// Deletes the keys that have expired, as a primary does ten times a second if nobody asks for
    /// them.
    fn delete_expired(&mut self) {
        if self.is_replica() || self.loading || !self.config.active_expire {
            return;
        }
        if !self.is_paused() {
            for db in 0..self.keyspace.databases() {
                self.delete_expired_in(db);
            }
            self.flush_effects_ungrouped();
        }
        self.schedule_expiry();
    }

    fn delete_expired_in(&mut self, db: usize) {
        // Backwards, since the last key takes the place of a removed one.
        for position in (0..self.database(db).len()).rev() {
            if self.database(db).volatile_len() == 0 {
                return;
            }
            if self.database(db).at(position).is_some_and(|(_, entry)| self.is_expired(entry)) {
                self.expire(db, position);
            }
        }
    }

    /// Asks to be woken when the first of all keys expires.
    pub(crate) fn schedule_expiry(&mut self) {
        let volatile = self.keyspace.iter().filter_map(|(_, _, entry)| entry.expires_at_ms());
        let first = volatile.min().map(|at| at.max(self.now_ms()));
        self.note_expiry(first);
    }
}
