use super::entry::{Entry, Need};
use fencepost_faults::Impact;

pub(super) static ENTRY: Entry = Entry {
    how: "A fair lock waits for the first process in its queue, even while that process is paused.",
    helps: "Let places in the queue expire sooner, or use a lock that keeps no order.",
    needs: &[Need::Impact(Impact::Freezes)],
    ..Entry::PLAIN
};
