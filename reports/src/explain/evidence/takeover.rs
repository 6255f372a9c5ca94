//! Detects that a process removed an existing lock while it acquired the lock.

use super::release;
use crate::judge::timeline::{Acquisition, Moment, Outcome, Timeline};
use fencepost_faults::Node;

pub(crate) fn is_stale_takeover(timeline: &Timeline<'_>, remover: Node, removed: Moment) -> bool {
    acquiring(timeline, remover, removed).is_some()
        && release::unknown(timeline, remover, removed).is_none()
        && !release::may_arrive(timeline, remover, removed)
}

/// Returns the acquisition that the process was attempting at this time.
pub(crate) fn acquiring<'t, 'h>(
    timeline: &'t Timeline<'h>,
    process: Node,
    at: Moment,
) -> Option<&'t Acquisition<'h>> {
    timeline.acquisitions.iter().find(|one| {
        let ended = one.completed.filter(|_| one.outcome != Outcome::Open);
        one.process == process && one.invoked < at && ended.is_none_or(|ended| at < ended)
    })
}
