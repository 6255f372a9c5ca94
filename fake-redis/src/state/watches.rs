use crate::state::client::Watch;
use crate::state::client_key::ClientKey;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

#[derive(Clone, Debug, Default)]
pub(crate) struct Watches {
    by_key: IndexMap<(usize, Box<[u8]>), Vec<ClientKey>, FxBuildHasher>,
}

impl Watches {
    pub(crate) fn has(&self, client: ClientKey, db: usize, key: &[u8]) -> bool {
        self.watchers(db, key).contains(&client)
    }

    pub(crate) fn add(&mut self, client: ClientKey, db: usize, key: &[u8]) {
        self.by_key.entry((db, key.into())).or_default().push(client);
    }

    pub(crate) fn watchers(&self, db: usize, key: &[u8]) -> &[ClientKey] {
        if self.by_key.is_empty() {
            return &[];
        }
        self.by_key.get(&(db, key.into())).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &(usize, Box<[u8]>)> {
        self.by_key.keys()
    }

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
