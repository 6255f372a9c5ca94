//! A waiting process crashed.

use super::entry::{Entry, Need};
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    needs: &[Need::DeadProcess],
    alone: Some(|_| {
        "A process that waited for the lock had died; nearly all the time nothing stood under the \
         lock's key, and still nobody got it."
            .to_owned()
    }),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "A process that waited for the lock died, and its place in the queue was kept for it.",
    how: "A fair queue gives the lock to its head, whoever that is.",
    helps: "Let places in the queue expire.",
};
