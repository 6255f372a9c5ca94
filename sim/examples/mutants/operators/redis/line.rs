use crate::operators::operator::{Operator, lock, server};
use crate::operators::resp::Call;
use crate::operators::rule;
use crate::operators::rule::redis::Rule;
use fencepost_clients::Coordinator;

pub(crate) const fn by(name: &'static str, about: &'static str, rule: Rule) -> Operator {
    lock(Coordinator::Redis, name, about, rule::Rule::Redis(rule))
}

pub(crate) const fn on(name: &'static str, about: &'static str, rule: Rule) -> Operator {
    server(Coordinator::Redis, name, about, rule::Rule::Redis(rule))
}

pub(crate) const fn words(
    name: &'static str,
    about: &'static str,
    rule: fn(&mut Call) -> bool,
) -> Operator {
    by(name, about, Rule::Words(rule))
}

pub(crate) const fn words_on(
    name: &'static str,
    about: &'static str,
    rule: fn(&mut Call) -> bool,
) -> Operator {
    on(name, about, Rule::Words(rule))
}

pub(crate) const fn unsent(
    name: &'static str,
    about: &'static str,
    rule: fn(&Call) -> Option<&'static str>,
) -> Operator {
    by(name, about, Rule::Unsent(rule))
}

pub(crate) const fn misheard(
    name: &'static str,
    about: &'static str,
    rule: fn(&Call, &[u8]) -> Option<&'static str>,
) -> Operator {
    by(name, about, Rule::Heard(rule))
}
