//! Short ways to write an operator down.

use super::Rule;
use crate::hosts::mutants::operator::{self, Operator, lock, server};
use crate::hosts::mutants::resp::Call;
use fencepost_clients::Coordinator;

pub(super) const fn by(name: &'static str, about: &'static str, rule: Rule) -> Operator {
    lock(Coordinator::Redis, name, about, operator::Rule::Redis(rule))
}

pub(super) const fn on(name: &'static str, about: &'static str, rule: Rule) -> Operator {
    server(Coordinator::Redis, name, about, operator::Rule::Redis(rule))
}

pub(super) const fn words(
    name: &'static str,
    about: &'static str,
    rule: fn(&mut Call) -> bool,
) -> Operator {
    by(name, about, Rule::Words(rule))
}

pub(super) const fn unsent(
    name: &'static str,
    about: &'static str,
    rule: fn(&Call) -> Option<&'static str>,
) -> Operator {
    by(name, about, Rule::Unsent(rule))
}

pub(super) const fn misheard(
    name: &'static str,
    about: &'static str,
    rule: fn(&Call, &[u8]) -> Option<&'static str>,
) -> Operator {
    by(name, about, Rule::Heard(rule))
}
