//! Reads, changes and expires keys, and reports changes to WATCH and to the tap.

use crate::config::events::EventClass;
use crate::data::keyspace::Entry;
use crate::data::value::Value;
use crate::state::client_key::ClientKey;
use crate::state::server::Server;
use crate::state::timers::Timer;
use fencepost_machine::KeyChange;

impl Server {
    pub(crate) fn is_past_deadline(&self, at_ms: i64) -> bool {
        at_ms <= self.now_ms() && !self.life.is_loading && !self.is_replica()
    }

    /// Returns the position of a key. May delete an expired key (`expireIfNeeded`).
    pub(crate) fn find(&mut self, db: usize, key: &[u8]) -> Option<usize> {
        let database = self.keyspace.database(db);
        let position = database.find(key)?;
        let (_, entry) = database.at(position)?;
        if !self.is_expired(entry) {
            return Some(position);
        }
        if self.is_replica() {
            return (self.turn.acting == Some(ClientKey::PRIMARY)).then_some(position);
        }
        if !self.is_paused() {
            self.expire(db, position);
        }
        None
    }

    pub(crate) fn read(&mut self, db: usize, key: &[u8]) -> Option<&Entry> {
        match self.find(db, key) {
            Some(position) => {
                self.statistics.keyspace_hits += 1;
                self.use_at(db, position)
            }
            None => {
                self.statistics.keyspace_misses += 1;
                None
            }
        }
    }

    pub(crate) fn use_at(&mut self, db: usize, position: usize) -> Option<&Entry> {
        let now_ms = self.now_ms();
        let entry = self.keyspace.database_mut(db).at_mut(position)?;
        entry.used_at_ms = now_ms;
        entry.uses = entry.uses.saturating_add(1);
        Some(entry)
    }

    /// Returns a value. After changing it, call [`Server::changed`] or remove the key.
    pub(crate) fn value_mut(&mut self, db: usize, position: usize) -> Option<&mut Value> {
        let now_ms = self.now_ms();
        let entry = self.keyspace.database_mut(db).at_mut(position)?;
        entry.used_at_ms = now_ms;
        Some(&mut entry.value)
    }

    pub(crate) fn store(
        &mut self,
        db: usize,
        key: &[u8],
        value: Value,
        expires_at_ms: Option<i64>,
    ) {
        let mut entry = Entry::new(value, expires_at_ms);
        entry.used_at_ms = self.now_ms();
        let is_told =
            self.config.events.has(EventClass::New) && self.database(db).find(key).is_none();
        let position = self.keyspace.database_mut(db).insert(key, entry);
        self.note_expiry(expires_at_ms);
        self.after_change(db, position, key, KeyChange::Granted);
        if is_told {
            self.notify(EventClass::New, "new", db, key);
        }
    }

    pub(crate) fn store_string(
        &mut self,
        db: usize,
        position: Option<usize>,
        key: &[u8],
        text: &[u8],
        expires_at_ms: Option<i64>,
    ) {
        let Some(position) = position else {
            return self.store(db, key, Value::String(text.to_vec()), expires_at_ms);
        };
        match self.value_mut(db, position) {
            Some(Value::String(old)) => {
                old.clear();
                old.extend_from_slice(text);
            }
            Some(other) => *other = Value::String(text.to_vec()),
            None => return,
        }
        self.keyspace.database_mut(db).set_expiry(position, expires_at_ms);
        self.note_expiry(expires_at_ms);
        self.changed(db, position, key);
    }

    pub(crate) fn changed(&mut self, db: usize, position: usize, key: &[u8]) {
        self.keyspace.database_mut(db).account(position);
        self.after_change(db, position, key, KeyChange::Granted);
    }

    pub(crate) fn set_expiry(
        &mut self,
        db: usize,
        position: usize,
        key: &[u8],
        expires_at_ms: Option<i64>,
    ) {
        self.keyspace.database_mut(db).set_expiry(position, expires_at_ms);
        self.note_expiry(expires_at_ms);
        self.after_change(db, position, key, KeyChange::Extended);
    }

    fn after_change(&mut self, db: usize, position: usize, key: &[u8], change: KeyChange) {
        self.changes.unsaved += 1;
        self.touch_watched(db, key);
        self.blocking.note_ready(db, key);
        self.tap_entry(db, position, change);
    }

    pub(crate) fn remove(&mut self, db: usize, position: usize) -> Option<Entry> {
        self.remove_as(db, position, KeyChange::Removed)
    }

    pub(crate) fn remove_as(
        &mut self,
        db: usize,
        position: usize,
        change: KeyChange,
    ) -> Option<Entry> {
        let (key, entry) = self.keyspace.database_mut(db).remove_at(position)?;
        self.changes.unsaved += 1;
        self.touch_watched(db, &key);
        self.tap_gone(&key, &entry, change);
        Some(entry)
    }

    pub(crate) fn expire(&mut self, db: usize, position: usize) {
        let Some((key, _)) = self.keyspace.database(db).at(position) else { return };
        let key: Box<[u8]> = key.into();
        let unsaved_before = self.changes.unsaved;
        self.remove_as(db, position, KeyChange::Expired);
        // The command did not cause the expiry, so the server propagates a separate DEL.
        self.changes.unsaved = unsaved_before;
        self.statistics.expired_keys += 1;
        self.add_effect(db, &[b"DEL", &key]);
        self.notify(EventClass::Expired, "expired", db, &key);
    }

    pub(crate) fn empty_database(&mut self, db: usize, change: KeyChange) -> usize {
        let keys = self.keyspace.database_mut(db).take_all();
        let count = keys.len();
        for (key, entry) in keys {
            self.touch_watched(db, &key);
            self.tap_gone(&key, &entry, change);
        }
        count
    }

    pub(crate) fn discard_all(&mut self) {
        for db in 0..self.keyspace.databases() {
            self.empty_database(db, KeyChange::Discarded);
        }
    }

    pub(crate) fn restore(
        &mut self,
        db: usize,
        key: &[u8],
        value: Value,
        expires_at_ms: Option<i64>,
    ) {
        let position = self.keyspace.database_mut(db).insert(key, Entry::new(value, expires_at_ms));
        self.note_expiry(expires_at_ms);
        self.tap_entry(db, position, KeyChange::Restored);
    }

    pub(crate) fn note_expiry(&mut self, expires_at_ms: Option<i64>) {
        let Some(expires_at_ms) = expires_at_ms else { return };
        if !self.config.active_expire {
            return;
        }
        let look = self.clock.next_cron(expires_at_ms.saturating_add(1).saturating_mul(1_000));
        self.timers.set_at_latest(Timer::ActiveExpiry, look);
    }
}
