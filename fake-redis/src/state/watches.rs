//! WATCH: which clients watch which keys.

use crate::state::client::Watch;
use crate::state::client_key::ClientKey;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Which clients watch a key of a database.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watches {
    by_key: IndexMap<(usize, Box<[u8]>), Vec<ClientKey>, FxBuildHasher>,
}

impl Watches {
    /// Whether a client watches a key.
    pub(crate) fn has(&self, client: ClientKey, db: usize, key: &[u8]) -> bool {
        self.watchers(db, key).contains(&client)
    }

    /// A client watches a key that it does not yet.
    pub(crate) fn add(&mut self, client: ClientKey, db: usize, key: &[u8]) {
        self.by_key.entry((db, key.into())).or_default().push(client);
    }

    /// Who watches a key.
    pub(crate) fn watchers(&self, db: usize, key: &[u8]) -> &[ClientKey] {
        if self.by_key.is_empty() {
            return &[];
        }
        self.by_key.get(&(db, key.into())).map_or(&[], Vec::as_slice)
    }

    /// All keys that somebody watches.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &(usize, Box<[u8]>)> {
        self.by_key.keys()
    }

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
