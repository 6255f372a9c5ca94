use super::entry::{Entry, Need};
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    needs: &[Need::DeadProcess],
    alone: Some(|_| {
        "A process that waited for the lock had crashed; the lock's key was free almost all the \
         time, but no process got the lock."
            .to_owned()
    }),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    how: "A fair queue gives the lock to its head, even if that process has crashed.",
    helps: "Let places in the queue expire.",
};
