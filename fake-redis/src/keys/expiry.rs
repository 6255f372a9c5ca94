//! When keys expire by themselves.

use crate::config::events::EventClass;
use crate::state::server::Server;

impl Server {
    /// Deletes the keys that have expired, as a primary does ten times a second if nobody asks for
    /// them.
    pub(crate) fn delete_expired(&mut self) {
        if self.is_replica() || self.life.is_loading() || !self.config.active_expire {
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

    /// Whether keys will expire, and clients may hear of that.
    pub(crate) fn reports_expiry(&self) -> bool {
        self.config.events().has(EventClass::Expired)
            && self.keyspace.iter().any(|(_, _, entry)| entry.expires_at_ms().is_some())
    }
}
