use super::operator::{Operator, lock, server};
use super::rule::Rule;
use fencepost_clients::Coordinator;

type Edits = &'static [(&'static str, &'static str)];

const fn asks(name: &'static str, about: &'static str, edits: Edits) -> Operator {
    lock(Coordinator::MySql, name, about, Rule::Asks(edits))
}

const fn hears(name: &'static str, about: &'static str, edits: Edits) -> Operator {
    lock(Coordinator::MySql, name, about, Rule::Answers(edits))
}

const fn on(name: &'static str, about: &'static str, rule: Rule) -> Operator {
    server(Coordinator::MySql, name, about, rule)
}

const NO: &str = "\x02\0\0\x04\x010";
const YES: &str = "\x02\0\0\x04\x011";

pub(crate) const TABLE: &[Operator] = &[
    asks("my-release-unsent", "does not release the lock", &[("RELEASE_LOCK(", "IS_USED_LOCK(")]),
    asks(
        "my-owner-unchecked",
        "does not check who owns the lock",
        &[("= CONNECTION_ID()", "IS NOT NULL")],
    ),
    hears("my-refusal-read-as-grant", "reads a refusal as a grant", &[(NO, YES)]),
    hears("my-grant-read-as-refusal", "reads a grant as a refusal", &[(YES, NO)]),
    on("get-lock-shared", "GET_LOCK grants every request", Rule::Answers(&[(NO, YES)])),
    on(
        "release-does-nothing",
        "RELEASE_LOCK keeps the lock",
        Rule::Asks(&[("RELEASE_LOCK(", "IS_USED_LOCK(")]),
    ),
];
