use super::operator::{At, Of, Operator, Side};
use super::rule;
use super::rule::any::Rule;

const fn any(name: &'static str, about: &'static str, rule: Rule) -> Operator {
    let rule = rule::Rule::Any(rule);
    Operator { name, about, side: Side::Server, of: Of::Any, at: At::Servers, rule }
}

pub(crate) const TABLE: &[Operator] = &[
    any("clock-doubled", "the server's clocks run twice as fast", Rule::Speed(20_000)),
    any("clock-quick", "the server's clocks run a tenth faster", Rule::Speed(11_000)),
    any("clock-halved", "the server's clocks run at half the speed", Rule::Speed(5_000)),
    any("clock-stuck", "the server's clocks run at a thousandth of the speed", Rule::Speed(10)),
    any("fsync-lies", "the disk reports a sync as done before it is", Rule::FsyncLies),
    any("starts-empty", "the server starts without its files", Rule::StartsEmpty),
    any("carried-out-twice", "every fifth command is executed twice", Rule::Twice(5)),
    any("forgets", "every server loses all data after every 40 commands", Rule::Forgets(40)),
    any("forgets-one", "one server loses all data after every 40 commands", Rule::Forgets(40))
        .at(At::First)
        .of(Of::Independent),
];
