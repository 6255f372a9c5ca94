//! A server came back without the counter of tokens.

use super::entry::{Entry, Measure, Step, at};
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    rules: &[at(Step::Counter, 60, |case| {
        case.counter().is_some_and(|counter| counter.was_forgotten())
    })],
    between: Some(|scene| format!("{} restarted without its counter of tokens.", scene.held_at())),
    measure: Some(Measure::Absence),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "A server came back without the counter that gives out fencing tokens.",
    how: "It keeps nothing on a disk, or writes its file only every second.",
    helps: "Take tokens from a store that does not lose them. On Redis: appendfsync always for the \
            server that holds the counter; on memcached: there is nothing that would keep it.",
};
