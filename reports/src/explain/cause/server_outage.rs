//! A server was down or paused.

use super::entry::{Entry, Need};
use crate::judge::meaning::Meaning;
use fencepost_faults::Impact;

pub(super) static ENTRY: Entry = Entry {
    needs: &[Need::DeadServer, Need::Impact(Impact::Kills), Need::Impact(Impact::Freezes)],
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "A server was down or stood still, and meanwhile nobody was granted the lock.",
    how: "Another server has to take its place, or its clients have to notice and go elsewhere: \
          Sentinels and followers wait for a timeout first.",
    helps: "A shorter timeout, at the price of needless failovers; independent masters, of which \
            a minority may fail; clients that ask again soon.",
};
