use super::operator::{Operator, constructors};
use super::rule::Edits;

constructors!(
    MySql,
    asks = lock(Asks: Edits),
    hears = lock(Answers: Edits),
    asks_on = server(Asks: Edits),
    answers_on = server(Answers: Edits),
);

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
    answers_on("get-lock-shared", "GET_LOCK grants every request", &[(NO, YES)]),
    asks_on(
        "release-does-nothing",
        "RELEASE_LOCK keeps the lock",
        &[("RELEASE_LOCK(", "IS_USED_LOCK(")],
    ),
];
