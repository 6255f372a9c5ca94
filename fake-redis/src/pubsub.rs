//! Channels: who listens, and how messages reach them.

use crate::client::{ClientKey, Subscriptions};
use crate::glob;
use crate::reply::{Protocol, Reply};
use crate::server::Server;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Listeners of each name, in the order in which they came. The names have no order: each is
/// removed in constant time, since one client may bring and take thousands.
pub(crate) type Listeners = IndexMap<Box<[u8]>, Vec<ClientKey>, FxBuildHasher>;

/// Three kinds of subscription.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// SUBSCRIBE.
    Channel,
    /// PSUBSCRIBE.
    Pattern,
    /// SSUBSCRIBE.
    ShardChannel,
}

/// Who listens to what.
#[derive(Clone, Debug, Default)]
pub(crate) struct PubSub {
    /// By channel.
    pub(crate) channels: Listeners,
    /// By pattern.
    pub(crate) patterns: Listeners,
    /// By shard channel.
    pub(crate) shard_channels: Listeners,
}

impl PubSub {
    /// The listeners of one kind.
    pub(crate) fn of(&mut self, kind: Kind) -> &mut Listeners {
        match kind {
            Kind::Channel => &mut self.channels,
            Kind::Pattern => &mut self.patterns,
            Kind::ShardChannel => &mut self.shard_channels,
        }
    }

    /// Adds a listener that is not one yet.
    pub(crate) fn add(&mut self, kind: Kind, name: &[u8], client: ClientKey) {
        self.of(kind).entry(name.into()).or_default().push(client);
    }

    /// Removes a listener.
    pub(crate) fn remove(&mut self, kind: Kind, name: &[u8], client: ClientKey) {
        let listeners = self.of(kind);
        let Some(clients) = listeners.get_mut(name) else { return };
        clients.retain(|listener| *listener != client);
        if clients.is_empty() {
            listeners.swap_remove(name);
        }
    }

    /// Removes a client that is gone.
    pub(crate) fn forget(&mut self, client: ClientKey, subscriptions: &Subscriptions) {
        subscriptions.channels.iter().for_each(|name| self.remove(Kind::Channel, name, client));
        subscriptions.patterns.iter().for_each(|name| self.remove(Kind::Pattern, name, client));
        subscriptions
            .shard_channels
            .iter()
            .for_each(|name| self.remove(Kind::ShardChannel, name, client));
    }
}

impl Server {
    /// Sends a message to everybody who listens to a channel; returns to how many. This is
    /// `pubsubPublishMessage` in pubsub.c.
    pub(crate) fn publish(&mut self, channel: &[u8], message: &[u8]) -> usize {
        let listeners = self.pubsub.channels.get(channel).cloned().unwrap_or_default();
        self.deliver(&listeners, &[b"message", channel, message]);
        let mut receivers = listeners.len();
        if self.pubsub.patterns.is_empty() {
            return receivers;
        }
        let matching =
            self.pubsub.patterns.iter().filter(|(pattern, _)| glob::matches(pattern, channel));
        let matching: Vec<_> =
            matching.map(|(pattern, clients)| (pattern.clone(), clients.clone())).collect();
        for (pattern, clients) in matching {
            self.deliver(&clients, &[b"pmessage", &pattern, channel, message]);
            receivers += clients.len();
        }
        receivers
    }

    /// Sends a message to everybody who listens to a shard channel; returns to how many.
    pub(crate) fn publish_to_shard(&mut self, channel: &[u8], message: &[u8]) -> usize {
        let listeners = self.pubsub.shard_channels.get(channel).cloned().unwrap_or_default();
        self.deliver(&listeners, &[b"smessage", channel, message]);
        listeners.len()
    }

    /// Encodes a message once for each protocol in use and sends it.
    fn deliver(&mut self, listeners: &[ClientKey], parts: &[&[u8]]) {
        for protocol in [Protocol::Resp2, Protocol::Resp3] {
            let speaks = |key: &&ClientKey| self.client(**key).protocol == protocol;
            let clients: Vec<ClientKey> = listeners.iter().filter(speaks).copied().collect();
            if clients.is_empty() {
                continue;
            }
            let mut reply = Reply::default();
            reply.protocol = protocol;
            reply.push(parts.len());
            parts.iter().for_each(|part| reply.bulk(part));
            let bytes = reply.take();
            clients.into_iter().for_each(|key| self.push_to(key, bytes.clone()));
        }
    }
}
