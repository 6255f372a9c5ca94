//! The type of operators, and its short constructors.

use super::rule::Rule;
use fencepost_clients::{Coordinator, Definition, Deployment};
use fencepost_faults::Node;

/// One mistake that can be planted.
pub(crate) struct Operator {
    pub(crate) name: &'static str,
    /// A short description.
    pub(crate) about: &'static str,
    /// The side that makes it.
    pub(crate) side: Side,
    pub(crate) of: Of,
    pub(crate) at: At,
    pub(crate) rule: Rule,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// The lock: its commands, or its reading of replies.
    Lock,
    /// A server.
    Server,
}

/// The locks that it can apply to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Of {
    /// Locks on this coordinator.
    Coordinator(Coordinator),
    /// Locks on independent masters.
    Independent,
    /// Locks with fencing tokens.
    Tokens,
    Any,
}

/// The nodes that make it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum At {
    /// Every server of the lock.
    Servers,
    /// Only the first server.
    First,
    /// Every Sentinel.
    Sentinels,
    /// The protected storage.
    Storage,
}

impl Operator {
    /// Returns whether it may apply to a lock.
    pub(crate) fn fits(&self, lock: &Definition) -> bool {
        match self.of {
            Of::Coordinator(coordinator) => lock.deployment.coordinator() == coordinator,
            Of::Independent => lock.deployment == Deployment::Independent,
            Of::Tokens => lock.has_tokens,
            Of::Any => true,
        }
    }

    /// Returns whether this node makes it.
    pub(crate) fn is_at(&self, node: Node) -> bool {
        match self.at {
            At::Servers => matches!(node, Node::Redis(_) | Node::Server(_)),
            At::First => matches!(node, Node::Redis(1) | Node::Server(1)),
            At::Sentinels => matches!(node, Node::Sentinel(_)),
            At::Storage => node == Node::Storage,
        }
    }

    /// The same mistake at other nodes.
    pub(crate) const fn at(self, at: At) -> Operator {
        Operator { at, ..self }
    }

    /// The same mistake for fewer locks.
    pub(crate) const fn of(self, of: Of) -> Operator {
        Operator { of, ..self }
    }
}

pub(crate) const fn lock(
    of: Coordinator,
    name: &'static str,
    about: &'static str,
    rule: Rule,
) -> Operator {
    Operator { name, about, side: Side::Lock, of: Of::Coordinator(of), at: At::Servers, rule }
}

pub(crate) const fn server(
    of: Coordinator,
    name: &'static str,
    about: &'static str,
    rule: Rule,
) -> Operator {
    Operator { side: Side::Server, ..lock(of, name, about, rule) }
}
