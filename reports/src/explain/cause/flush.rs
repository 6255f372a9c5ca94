//! An operator flushed a server.

use super::entry::{Entry, LossRule, Reach, Step, at};
use crate::judge::meaning::Meaning;
use crate::record::history::Change;

pub(super) static ENTRY: Entry = Entry {
    rules: &[at(Step::Counter, 20, |case| {
        case.counter().is_some_and(|counter| counter.was_flushed())
    })],
    loss: Some(LossRule {
        turn: 80,
        reach: Reach::Replicas,
        holds: |_, loss| loss.ended_by(Change::Flushed),
    }),
    between: Some(|scene| format!("{} was flushed.", scene.held_at())),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "An operator flushed a server.",
    how: "One command removes all locks and counters: FLUSHALL or FLUSHDB on Redis, flush_all on \
          memcached.",
    helps: "Keep locks on a server of their own, and disable the command there. On Redis: by an \
            ACL; on memcached: -F.",
};
