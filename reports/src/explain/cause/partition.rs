//! The network was cut.

use super::entry::{Entry, Need};
use crate::judge::meaning::Meaning;
use fencepost_faults::FaultKind;

pub(super) static ENTRY: Entry =
    Entry { needs: &[Need::Fault(FaultKind::Partition)], ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "The network was cut at a server, and meanwhile nobody was granted the lock.",
    how: "Whoever is on the side of the minority cannot have the lock without risking that another \
          has it too.",
    helps: "Nothing in the lock. Let callers give up in time, and do without the lock what can be \
            done without it.",
};
