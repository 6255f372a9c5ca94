//! A process that was acquiring the lock removed the existing one.

use super::entry::Entry;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    between: Some(|_| {
        "A process that was asking for the lock removed the one that stood, whoever had it by then."
            .to_owned()
    }),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "A process that was asking for the lock removed the one that stood.",
    how: "It took it for stale: it compared a time in the value with its own clock, or two waiters \
          took over the same stale lock. Or it cleans up after an attempt that was refused, and \
          removes what is not its own.",
    helps: "Let the server expire the key. A takeover must compare and replace in one command.",
};
