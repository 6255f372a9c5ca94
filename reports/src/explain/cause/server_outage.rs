//! A server was down or stood still.

use super::entry::{Entry, Step, at};
use crate::explain::evidence::Standstill;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    rules: &[at(Step::Standstill, 130, |case| case.is_at(Standstill::ServersAway))],
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "A server was down or stood still, and meanwhile nobody was granted the lock.",
    how: "Another server has to take its place, or its clients have to notice and go elsewhere: \
          Sentinels and followers wait for a timeout first.",
    helps: "A shorter timeout, at the price of needless failovers; independent masters, of which \
            a minority may fail; clients that ask again soon.",
};
