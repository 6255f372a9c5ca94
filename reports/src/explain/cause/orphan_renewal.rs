//! A process that does not hold the lock renews it.

use super::entry::{Entry, Step, at};
use crate::explain::evidence::Standstill;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    rules: &[at(Step::Standstill, 10, |case| case.is_at(Standstill::OwnerRenews))],
    alone: Some(|_, _| {
        "A process that is not in its section goes on renewing the lock.".to_owned()
    }),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "A process that does not hold the lock goes on renewing it.",
    how: "An acquire that failed or was abandoned left its renewal running.",
    helps: "Start the renewal only after the lock was granted, and stop it on every path out.",
};
