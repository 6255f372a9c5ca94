use crate::state::client_key::ClientKey;
use crate::state::subscription::{Kind, Subscriptions};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Subscribers by channel or pattern, unordered, so that a removal takes constant time.
pub(crate) type Listeners = IndexMap<Box<[u8]>, Vec<ClientKey>, FxBuildHasher>;

#[derive(Clone, Debug, Default)]
pub(crate) struct PubSub([Listeners; 3]);

impl PubSub {
    pub(crate) fn of(&self, kind: Kind) -> &Listeners {
        &self.0[kind as usize]
    }

    pub(crate) fn add(&mut self, kind: Kind, name: &[u8], client: ClientKey) {
        self.0[kind as usize].entry(name.into()).or_default().push(client);
    }

    pub(crate) fn remove(&mut self, kind: Kind, name: &[u8], client: ClientKey) {
        let listeners = &mut self.0[kind as usize];
        let Some(clients) = listeners.get_mut(name) else { return };
        clients.retain(|listener| *listener != client);
        if clients.is_empty() {
            listeners.swap_remove(name);
        }
    }

    pub(crate) fn forget(&mut self, client: ClientKey, subscriptions: &Subscriptions) {
        for (kind, name) in subscriptions.all() {
            self.remove(kind, name, client);
        }
    }
}
