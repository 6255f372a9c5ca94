use crate::state::client_key::ClientKey;
use crate::state::subscription::{Kind, Subscriptions};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Subscribers by channel or pattern. The names are unordered, so that their removal takes constant
/// time.
pub(crate) type Listeners = IndexMap<Box<[u8]>, Vec<ClientKey>, FxBuildHasher>;

#[derive(Clone, Debug, Default)]
pub(crate) struct PubSub {
    channels: Listeners,
    patterns: Listeners,
    shard_channels: Listeners,
}

impl PubSub {
    pub(crate) fn of(&self, kind: Kind) -> &Listeners {
        match kind {
            Kind::Channel => &self.channels,
            Kind::Pattern => &self.patterns,
            Kind::ShardChannel => &self.shard_channels,
        }
    }

    fn of_mut(&mut self, kind: Kind) -> &mut Listeners {
        match kind {
            Kind::Channel => &mut self.channels,
            Kind::Pattern => &mut self.patterns,
            Kind::ShardChannel => &mut self.shard_channels,
        }
    }

    pub(crate) fn add(&mut self, kind: Kind, name: &[u8], client: ClientKey) {
        self.of_mut(kind).entry(name.into()).or_default().push(client);
    }

    pub(crate) fn remove(&mut self, kind: Kind, name: &[u8], client: ClientKey) {
        let listeners = self.of_mut(kind);
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
