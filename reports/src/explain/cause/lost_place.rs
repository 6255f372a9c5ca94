//! A waiter lost its place in the queue.

use super::entry::Entry;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    alone: Some(|_| "The lock did not keep the place of one that waited.".to_owned()),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "A lock that serves its waiters in order did not keep the place of one.",
    how: "Newcomers do not look at the queue, or a place was taken off it for one who lives.",
    helps: "Decide who is next in the same script that grants the lock.",
};
