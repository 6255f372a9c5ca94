//! The first in the queue stood still.

use super::entry::{Entry, Step, at};
use crate::explain::evidence::Standstill;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    rules: &[at(Step::Standstill, 65, |case| case.is_at(Standstill::WaiterStoodStill))],
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "For most of that time the first in the queue stood still.",
    how: "A lock that is given in order waits for the first in its queue, also while its host is \
          paused.",
    helps: "Let places in the queue expire sooner, or use a lock that keeps no order.",
};
