//! What an operator is, and the short ways to write one down.

use super::rule::Rule;
use fencepost_clients::{Coordinator, Definition, Deployment};
use fencepost_faults::Node;

/// One mistake that can be planted.
pub(crate) struct Operator {
    /// Its name.
    pub(crate) name: &'static str,
    /// The mistake, in a few words.
    pub(crate) about: &'static str,
    /// Who makes it.
    pub(crate) side: Side,
    pub(crate) of: Of,
    pub(crate) at: At,
    pub(crate) rule: Rule,
}

/// Who makes a mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// The lock: what it sends, or how it reads what it is answered.
    Lock,
    /// A server.
    Server,
}

/// Whose mistake it can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Of {
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
pub(crate) enum At {
    /// At every server of the lock.
    Servers,
    /// At the first of them only.
    First,
    /// At every Sentinel.
    Sentinels,
    /// At the guarded storage.
    Storage,
}

impl Operator {
    /// Whether it may mean something to a lock.
    pub(crate) fn fits(&self, lock: &Definition) -> bool {
        match self.of {
            Of::Coordinator(coordinator) => lock.deployment.coordinator() == coordinator,
            Of::Independent => lock.deployment == Deployment::Independent,
            Of::Tokens => lock.has_tokens,
            Of::Any => true,
        }
    }

    /// Whether it is made at this node.
    pub(crate) fn is_at(&self, node: Node) -> bool {
        match self.at {
            At::Servers => matches!(node, Node::Redis(_) | Node::Server(_)),
            At::First => matches!(node, Node::Redis(1) | Node::Server(1)),
            At::Sentinels => matches!(node, Node::Sentinel(_)),
            At::Storage => node == Node::Storage,
        }
    }

    /// The same mistake, made elsewhere only.
    pub(crate) const fn at(self, at: At) -> Operator {
        Operator { at, ..self }
    }

    /// The same mistake, of fewer locks.
    pub(crate) const fn of(self, of: Of) -> Operator {
        Operator { of, ..self }
    }
}

/// A mistake of locks.
pub(crate) const fn lock(
    of: Coordinator,
    name: &'static str,
    about: &'static str,
    rule: Rule,
) -> Operator {
    Operator { name, about, side: Side::Lock, of: Of::Coordinator(of), at: At::Servers, rule }
}

/// A mistake of servers.
pub(crate) const fn server(
    of: Coordinator,
    name: &'static str,
    about: &'static str,
    rule: Rule,
) -> Operator {
    Operator { side: Side::Server, ..lock(of, name, about, rule) }
}
