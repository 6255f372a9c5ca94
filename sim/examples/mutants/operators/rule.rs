//! What an operator changes, in the words of each coordinator.

pub(crate) mod any;
pub(crate) mod etcd;
pub(crate) mod memcached;
pub(crate) mod redis;
pub(crate) mod zookeeper;

use super::wire::{Exchange, Heard, edited};

/// What is changed.
pub(crate) enum Rule {
    /// Commands and replies of Redis.
    Redis(redis::Rule),
    /// Texts in what clients send: each is replaced by another that is no longer.
    Asks(&'static [(&'static str, &'static str)]),
    /// The same, in what they are answered.
    Answers(&'static [(&'static str, &'static str)]),
    /// Lines of memcached.
    Memcached(memcached::Rule),
    /// Records of ZooKeeper.
    ZooKeeper(zookeeper::Rule),
    /// Calls of etcd.
    Etcd(etcd::Rule),
    /// What any server is told and does.
    Any(any::Rule),
}

impl Rule {
    /// What a server hears instead of these bytes.
    pub(crate) fn hears(&self, exchange: &mut Exchange<'_>, bytes: &[u8]) -> Heard {
        match self {
            Rule::Redis(rule) => rule.hears(exchange, bytes),
            Rule::Asks(edits) => edited(bytes, edits),
            Rule::Memcached(rule) => rule.hears(exchange, bytes),
            Rule::ZooKeeper(rule) => rule.hears(exchange, bytes),
            Rule::Etcd(rule) => rule.hears(exchange, bytes),
            Rule::Answers(_) | Rule::Any(_) => Heard::AsItIs,
        }
    }

    /// What a client is answered instead of these bytes, if anything else.
    pub(crate) fn says(&self, exchange: &mut Exchange<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
        match self {
            Rule::Redis(rule) => rule.says(exchange, bytes),
            Rule::Answers(edits) => match edited(bytes, edits) {
                Heard::Instead(bytes) => Some(bytes),
                _ => None,
            },
            Rule::Memcached(rule) => rule.says(exchange, bytes),
            Rule::ZooKeeper(rule) => rule.says(exchange, bytes),
            Rule::Etcd(rule) => rule.says(exchange, bytes),
            Rule::Asks(_) | Rule::Any(_) => None,
        }
    }
}
