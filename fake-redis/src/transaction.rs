//! WATCH: which clients are overtaken by a change.

use crate::client::{ClientKey, Transaction, Watch};
use crate::server::Server;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Which clients watch a key of a database.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watches {
    by_key: IndexMap<(usize, Box<[u8]>), Vec<ClientKey>, FxBuildHasher>,
}

impl Watches {
    /// Removes a client's watches.
    pub(crate) fn forget(&mut self, client: ClientKey, watching: &[Watch]) {
        for watch in watching {
            let place = (watch.db, watch.key.clone());
            let Some(clients) = self.by_key.get_mut(&place) else { continue };
            clients.retain(|watcher| *watcher != client);
            if clients.is_empty() {
                self.by_key.swap_remove(&place);
            }
        }
    }
}

impl Server {
    /// Watches a key for a client that does not yet.
    pub(crate) fn watch(&mut self, client: ClientKey, db: usize, key: &[u8]) {
        let place = (db, key.into());
        if self.watches.by_key.get(&place).is_some_and(|clients| clients.contains(&client)) {
            return;
        }
        let was_expired = self.database(db).get(key).is_some_and(|entry| self.is_expired(entry));
        self.client_mut(client).watching.push(Watch { db, key: key.into(), was_expired });
        self.watches.by_key.entry(place).or_default().push(client);
    }

    /// Forgets all that a client watches.
    pub(crate) fn unwatch(&mut self, client: ClientKey) {
        let watching = std::mem::take(&mut self.client_mut(client).watching);
        self.watches.forget(client, &watching);
        self.client_mut(client).transaction.overtaken = false;
    }

    /// A key was changed: the transactions of those who watch it will not happen.
    pub(crate) fn touch_watched(&mut self, db: usize, key: &[u8]) {
        if self.watches.by_key.is_empty() {
            return;
        }
        let Some(clients) = self.watches.by_key.get(&(db, key.into())) else { return };
        for client in clients.clone() {
            self.client_mut(client).transaction.overtaken = true;
        }
    }

    /// Exchanges two databases; keys that are watched in either and exist in either count as
    /// changed.
    pub(crate) fn swap_databases(&mut self, one: usize, other: usize) {
        if one == other {
            return;
        }
        let places = self.watches.by_key.keys().filter(|(db, _)| *db == one || *db == other);
        let exists = |key: &[u8]| {
            self.database(one).get(key).is_some() || self.database(other).get(key).is_some()
        };
        let touched: Vec<_> = places.filter(|(_, key)| exists(key)).cloned().collect();
        touched.iter().for_each(|(db, key)| self.touch_watched(*db, key));
        self.keyspace.swap(one, other);
        self.note_all_ready();
    }

    /// Whether a key that a client watches has expired since, though nobody noticed. This is
    /// `isWatchedKeyExpired` in multi.c.
    pub(crate) fn has_expired_watch(&self, client: ClientKey) -> bool {
        self.client(client).watching.iter().any(|watch| {
            let entry = self.database(watch.db).get(&watch.key);
            !watch.was_expired && entry.is_some_and(|entry| self.is_expired(entry))
        })
    }

    /// Ends a client's transaction, and its watches with it.
    pub(crate) fn discard_transaction(&mut self, client: ClientKey) {
        self.client_mut(client).transaction = Transaction::default();
        self.unwatch(client);
    }
}
