use super::rule::Rule;
use fencepost_clients::{Coordinator, Definition, Deployment};
use fencepost_faults::Node;

pub(crate) struct Operator {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) side: Side,
    pub(crate) of: Of,
    pub(crate) at: At,
    pub(crate) rule: Rule,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Lock,
    Server,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Of {
    Coordinator(Coordinator),
    Independent,
    Tokens,
    Any,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum At {
    Servers,
    First,
    Sentinels,
    Storage,
}

impl Operator {
    pub(crate) fn fits(&self, lock: &Definition) -> bool {
        match self.of {
            Of::Coordinator(coordinator) => lock.deployment.coordinator() == coordinator,
            Of::Independent => lock.deployment == Deployment::Independent,
            Of::Tokens => lock.has_tokens,
            Of::Any => true,
        }
    }

    pub(crate) fn is_at(&self, node: Node) -> bool {
        match self.at {
            At::Servers => matches!(node, Node::Redis(_) | Node::Server(_)),
            At::First => matches!(node, Node::Redis(1) | Node::Server(1)),
            At::Sentinels => matches!(node, Node::Sentinel(_)),
            At::Storage => node == Node::Storage,
        }
    }

    pub(crate) const fn at(self, at: At) -> Operator {
        Operator { at, ..self }
    }

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

/// Defines functions that make the mutants of one coordinator from a name, a description and a
/// rule. In `lock(Kind(Own): Type)`, `Kind` is the variant of the common rule, and `Own` is the
/// variant of the coordinator's own rule. Without `(Own)`, callers pass the coordinator's own rule.
macro_rules! constructors {
    (
        $visible:vis $of:ident,
        $($make:ident = $side:ident($kind:ident $(($own:ident))?: $rule:ty)),+ $(,)?
    ) => { $(
        $visible const fn $make(name: &'static str, about: &'static str, rule: $rule) -> Operator {
            let rule = $crate::operators::rule::Rule::$kind($(Rule::$own)?(rule));
            let of = fencepost_clients::Coordinator::$of;
            $crate::operators::operator::$side(of, name, about, rule)
        }
    )+ };
}
pub(crate) use constructors;
