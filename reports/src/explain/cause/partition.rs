//! Messages were held up.

use super::entry::{Entry, Step, at};
use crate::explain::evidence::Standstill;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    rules: &[at(Step::Standstill, 140, |case| case.is_at(Standstill::MessagesHeldUp))],
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "Messages to or between servers were held up, and meanwhile nobody was granted the lock.",
    how: "A network was cut, or slow. Whoever is on the side of the minority cannot have the lock \
          without risking that another has it too.",
    helps: "Nothing in the lock. Let callers give up in time, and do without the lock what can be \
            done without it.",
};
