//! Detects that a process removed an existing lock while it acquired the lock.

use super::release;
use crate::judge::timeline::{Moment, Outcome, Timeline};
use fencepost_faults::Node;

pub(crate) fn is_stale_takeover(timeline: &Timeline<'_>, remover: Node, removed: Moment) -> bool {
    let mut acquisitions = timeline.acquisitions.iter();
    let acquiring = acquisitions.any(|one| {
        let ended = one.completed.filter(|_| one.outcome != Outcome::Open);
        one.process == remover && one.invoked < removed && ended.is_none_or(|ended| removed < ended)
    });
    acquiring
        && release::unknown(timeline, remover, removed).is_none()
        && !release::may_arrive(timeline, remover, removed)
}
