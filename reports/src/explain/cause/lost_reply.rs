//! A command was applied, and its sender never heard of it.

use super::entry::{Entry, LossRule, Reach, Step, at};
use crate::explain::evidence::{Misheard, Remover, Standstill};
use crate::judge::finding::Kind;
use crate::judge::meaning::Meaning;
use crate::record::history::Header;

pub(super) static ENTRY: Entry = Entry {
    rules: &[
        at(Step::Standstill, 30, |case| case.is_at(Standstill::OwnerUnaware)),
        at(Step::Misheard, 20, |case| case.is_misheard(Misheard::Refused)),
    ],
    loss: Some(LossRule {
        turn: 40,
        reach: Reach::Replicas,
        holds: |_, loss| loss.remover() == Some(Remover::Itself) && loss.lost_a_reply(),
    }),
    between: Some(|_| "A server applied a command whose sender never heard of it.".to_owned()),
    alone: Some(alone),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "A command was applied, and its sender never heard of it.",
    how: "The connection broke between the command and its answer; the client sent it again, or \
          gave up.",
    helps: "Make commands safe to repeat: a process that finds its own value holds the lock.",
};

fn alone(kind: Kind, _: &Header) -> String {
    let said = match kind {
        Kind::WrongAnswer => {
            "A server had applied its command, and what it was told is not the answer to that: a \
             fault was at work meanwhile."
        }
        _ => {
            "A server had applied a command whose sender never heard of it, and the lock stood on \
             there."
        }
    };
    said.to_owned()
}
