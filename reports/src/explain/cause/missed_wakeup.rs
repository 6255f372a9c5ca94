//! A waiting process was not woken.

use super::entry::Entry;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    alone: Some(|_| {
        "The lock became free, and those who waited for it sent nothing to a server after that."
            .to_owned()
    }),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The lock became free, and nothing woke a process that waited for it.",
    how: "The message came before the process listened, went to another, or was never sent: Redis \
          delivers what is published at most once, and an expiry is told to nobody who has not \
          asked for that. Or a waiter waits for another thread of its own process, not for a server.",
    helps: "Ask again after subscribing, and wait for no longer than a lease.",
};
