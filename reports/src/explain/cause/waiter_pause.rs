//! The first in the queue was paused.

use super::entry::{Entry, Need};
use crate::judge::meaning::Meaning;
use fencepost_faults::Impact;

pub(super) static ENTRY: Entry =
    Entry { needs: &[Need::Impact(Impact::Freezes)], ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "For most of that time the first in the queue stood still.",
    how: "A lock that is given in order waits for the first in its queue, also while its host is \
          paused.",
    helps: "Let places in the queue expire sooner, or use a lock that keeps no order.",
};
