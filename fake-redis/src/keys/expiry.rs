use crate::config::events::EventClass;
use crate::state::server::Server;

impl Server {
    pub(crate) fn delete_expired(&mut self) {
        if self.is_replica() || self.life.is_loading || !self.config.active_expire {
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
        // The loop runs backward, because a removal moves the last key to the freed position.
        for position in (0..self.database(db).len()).rev() {
            if self.database(db).volatile_len() == 0 {
                return;
            }
            if self.database(db).at(position).is_some_and(|(_, entry)| self.is_expired(entry)) {
                self.expire(db, position);
            }
        }
    }

    pub(crate) fn schedule_expiry(&mut self) {
        let volatile = self.keyspace.iter().filter_map(|(_, _, entry)| entry.expires_at_ms());
        let first = volatile.min().map(|at| at.max(self.now_ms()));
        self.note_expiry(first);
    }

    pub(crate) fn reports_expiry(&self) -> bool {
        self.config.events.has(EventClass::Expired)
            && self.keyspace.iter().any(|(_, _, entry)| entry.expires_at_ms().is_some())
    }
}
