pub(crate) mod any;
pub(crate) mod etcd;
pub(crate) mod line;
pub(crate) mod memcached;
pub(crate) mod redis;
pub(crate) mod zookeeper;

use super::wire::{Exchange, Heard, edited};

pub(crate) type Edits = &'static [(&'static str, &'static str)];

pub(crate) enum Rule {
    Redis(redis::Rule),
    Asks(Edits),
    Answers(Edits),
    Memcached(memcached::Rule),
    ZooKeeper(zookeeper::Rule),
    Etcd(etcd::Rule),
    Line(line::Rule),
    Any(any::Rule),
}

impl Rule {
    pub(crate) fn hears(&self, exchange: &mut Exchange<'_>, bytes: &[u8]) -> Heard {
        match self {
            Rule::Redis(rule) => rule.hears(exchange, bytes),
            Rule::Asks(edits) => edited(bytes, edits),
            Rule::Memcached(rule) => rule.hears(exchange, bytes),
            Rule::ZooKeeper(rule) => rule.hears(exchange, bytes),
            Rule::Etcd(rule) => rule.hears(exchange, bytes),
            Rule::Line(rule) => rule.hears(exchange, bytes),
            Rule::Answers(_) | Rule::Any(_) => Heard::AsItIs,
        }
    }

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
            Rule::Line(rule) => rule.says(exchange, bytes),
            Rule::Asks(_) | Rule::Any(_) => None,
        }
    }
}
