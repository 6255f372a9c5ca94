use crate::data::glob;
use crate::protocol::reply::{Protocol, Reply};
use crate::state::client_key::ClientKey;
use crate::state::server::Server;
use crate::state::subscription::Kind;

impl Server {
    pub(crate) fn publish(&mut self, channel: &[u8], message: &[u8]) -> usize {
        let listeners = self.pubsub.of(Kind::Channel).get(channel).cloned().unwrap_or_default();
        self.deliver(&listeners, &[b"message", channel, message]);
        let mut receivers = listeners.len();
        let patterns = self.pubsub.of(Kind::Pattern);
        if patterns.is_empty() {
            return receivers;
        }
        let matching = patterns.iter().filter(|(pattern, _)| glob::matches(pattern, channel));
        let matching: Vec<_> =
            matching.map(|(pattern, clients)| (pattern.clone(), clients.clone())).collect();
        for (pattern, clients) in matching {
            self.deliver(&clients, &[b"pmessage", &pattern, channel, message]);
            receivers += clients.len();
        }
        receivers
    }

    pub(crate) fn publish_to_shard(&mut self, channel: &[u8], message: &[u8]) -> usize {
        let listeners =
            self.pubsub.of(Kind::ShardChannel).get(channel).cloned().unwrap_or_default();
        self.deliver(&listeners, &[b"smessage", channel, message]);
        listeners.len()
    }

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
