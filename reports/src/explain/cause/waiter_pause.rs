use super::entry::{Entry, Need};
use crate::judge::meaning::Meaning;
use fencepost_faults::Impact;

pub(super) static ENTRY: Entry =
    Entry { needs: &[Need::Impact(Impact::Freezes)], ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    how: "A fair lock waits for the first process in its queue, even while that process is paused.",
    helps: "Let places in the queue expire sooner, or use a lock that keeps no order.",
};
