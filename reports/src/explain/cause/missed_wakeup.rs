//! Nothing woke a process that waits.

use super::entry::{Entry, Step, at};
use crate::explain::evidence::Standstill;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    rules: &[at(Step::Standstill, 70, |case| {
        case.is_at(Standstill::NotTold) && !case.lives_with_session()
    })],
    alone: Some(|_, _| "The lock becomes free without a word to those who wait for it.".to_owned()),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The lock became free, and nothing woke a process that waited for it.",
    how: "The message came before the process listened, went to another, or was never sent: Redis \
          delivers what is published at most once, and an expiry is told to nobody who has not \
          asked for that.",
    helps: "Ask again after subscribing, and wait for no longer than a lease.",
};
