//! What an operator is, and the short ways to write one down.

use super::{any, etcd, memcached, redis, wire, zookeeper};
use fencepost_clients::{Coordinator, Definition, Deployment};
use fencepost_faults::Node;

/// One mistake that can be planted.
pub struct Operator {
    /// Its name.
    pub name: &'static str,
    /// The mistake, in a few words.
    pub about: &'static str,
    /// Who makes it.
    pub side: Side,
    pub(super) of: Of,
    pub(super) at: At,
    pub(super) rule: Rule,
}

/// Who makes a mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The lock: what it sends, or how it reads what it is answered.
    Lock,
    /// A server.
    Server,
}

/// Whose mistake it can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Of {
    /// Locks on this coordinator.
    Coordinator(Coordinator),
    /// Locks on independent masters.
    Independent,
    /// Locks with fencing tokens.
    Tokens,
    /// All.
    Any,
}

/// Where it is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum At {
    /// At every server of the lock.
    Servers,
    /// At the first of them only.
    First,
    /// At every Sentinel.
    Sentinels,
    /// At the guarded storage.
    Storage,
}

/// What is changed.
pub(super) enum Rule {
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

impl Operator {
    /// Whether it may mean something to a lock.
    pub(super) fn fits(&self, lock: &Definition) -> bool {
        match self.of {
            Of::Coordinator(coordinator) => lock.deployment.coordinator() == coordinator,
            Of::Independent => lock.deployment == Deployment::Independent,
            Of::Tokens => lock.has_tokens,
            Of::Any => true,
        }
    }

    /// Whether it is made at this node.
    pub(super) fn is_at(&self, node: Node) -> bool {
        match self.at {
            At::Servers => matches!(node, Node::Redis(_) | Node::Server(_)),
            At::First => matches!(node, Node::Redis(1) | Node::Server(1)),
            At::Sentinels => matches!(node, Node::Sentinel(_)),
            At::Storage => node == Node::Storage,
        }
    }

    /// The same mistake, made elsewhere only.
    pub(super) const fn at(self, at: At) -> Operator {
        Operator { at, ..self }
    }

    /// The same mistake, of fewer locks.
    pub(super) const fn of(self, of: Of) -> Operator {
        Operator { of, ..self }
    }

    /// What a server hears instead of these bytes.
    pub(super) fn hears(&self, talk: &mut wire::Talk<'_>, bytes: &[u8]) -> wire::Heard {
        match &self.rule {
            Rule::Redis(rule) => rule.hears(talk, bytes),
            Rule::Asks(edits) => wire::edited(bytes, edits),
            Rule::Memcached(rule) => rule.hears(talk, bytes),
            Rule::ZooKeeper(rule) => rule.hears(talk, bytes),
            Rule::Etcd(rule) => rule.hears(talk, bytes),
            Rule::Answers(_) | Rule::Any(_) => wire::Heard::AsItIs,
        }
    }

    /// What a client is answered instead of these bytes, if anything else.
    pub(super) fn says(&self, talk: &mut wire::Talk<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
        match &self.rule {
            Rule::Redis(rule) => rule.says(talk, bytes),
            Rule::Answers(edits) => match wire::edited(bytes, edits) {
                wire::Heard::Instead(bytes) => Some(bytes),
                _ => None,
            },
            Rule::Memcached(rule) => rule.says(talk, bytes),
            Rule::ZooKeeper(rule) => rule.says(talk, bytes),
            Rule::Etcd(rule) => rule.says(talk, bytes),
            Rule::Asks(_) | Rule::Any(_) => None,
        }
    }
}

/// A mistake of locks.
pub(super) const fn lock(
    of: Coordinator,
    name: &'static str,
    about: &'static str,
    rule: Rule,
) -> Operator {
    Operator { name, about, side: Side::Lock, of: Of::Coordinator(of), at: At::Servers, rule }
}

/// A mistake of servers.
pub(super) const fn server(
    of: Coordinator,
    name: &'static str,
    about: &'static str,
    rule: Rule,
) -> Operator {
    Operator { side: Side::Server, ..lock(of, name, about, rule) }
}
