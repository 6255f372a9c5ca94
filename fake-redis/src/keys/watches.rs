use crate::state::client::{Transaction, Watch};
use crate::state::client_key::ClientKey;
use crate::state::server::Server;

impl Server {
    pub(crate) fn watch(&mut self, client: ClientKey, db: usize, key: &[u8]) {
        if self.watches.has(client, db, key) {
            return;
        }
        let was_expired = self.database(db).get(key).is_some_and(|entry| self.is_expired(entry));
        self.client_mut(client).watch(Watch { db, key: key.into(), was_expired });
        self.watches.add(client, db, key);
    }

    pub(crate) fn unwatch(&mut self, client: ClientKey) {
        let watching = self.client_mut(client).unwatch();
        self.watches.forget(client, &watching);
    }

    pub(crate) fn touch_watched(&mut self, db: usize, key: &[u8]) {
        for client in self.watches.watchers(db, key) {
            self.roster.client_mut(*client).transaction.has_failed_watch = true;
        }
    }

    pub(crate) fn swap_databases(&mut self, one: usize, other: usize) {
        if one == other {
            return;
        }
        let places = self.watches.keys().filter(|(db, _)| *db == one || *db == other);
        let exists = |key: &[u8]| {
            self.database(one).get(key).is_some() || self.database(other).get(key).is_some()
        };
        let touched: Vec<_> = places.filter(|(_, key)| exists(key)).cloned().collect();
        touched.iter().for_each(|(db, key)| self.touch_watched(*db, key));
        self.keyspace.swap(one, other);
        self.blocking.note_all_ready();
    }

    pub(crate) fn has_expired_watch(&self, client: ClientKey) -> bool {
        self.client(client).watching().iter().any(|watch| {
            let entry = self.database(watch.db).get(&watch.key);
            !watch.was_expired && entry.is_some_and(|entry| self.is_expired(entry))
        })
    }

    pub(crate) fn discard_transaction(&mut self, client: ClientKey) {
        self.client_mut(client).transaction = Transaction::default();
        self.unwatch(client);
    }
}
