//! WATCH: which clients watch which keys.

use crate::state::client::Watch;
use crate::state::client_key::ClientKey;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Which clients watch a key of a database.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watches {
    pub(crate) by_key: IndexMap<(usize, Box<[u8]>), Vec<ClientKey>, FxBuildHasher>,
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
