//! Whether a removal was that of a process that was asking for the lock.

use super::release;
use crate::judge::timeline::{Moment, Outcome, Timeline};
use fencepost_faults::Node;

/// Whether this process removed the lock while it was acquiring, and nothing that it had sent
/// before can have been what removed it: a release whose answer it never got may arrive as late.
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
