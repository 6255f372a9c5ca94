//! Detects processes that removed an existing lock during an acquire.

use super::{release, value_time};
use crate::judge::timeline::{Acquisition, KeyEnd, Moment, Timeline};
use crate::record::history::Change;
use fencepost_faults::{Micros, Node};

/// Longest time from the removal of a stale lock to the remover's own grant.
const TAKES_MAX: Micros = Micros::from_millis(20);

pub(crate) fn is_stale_takeover(timeline: &Timeline<'_>, remover: Node, removed: Moment) -> bool {
    let Some(attempt) = timeline.acquiring(remover, removed) else { return false };
    has_no_release(timeline, remover, removed)
        || takes_at_once(timeline, attempt, removed) && takes_over(timeline)
}

fn has_no_release(timeline: &Timeline<'_>, remover: Node, removed: Moment) -> bool {
    release::unknown(timeline, remover, removed).is_none()
        && !release::may_arrive(timeline, remover, removed)
}

/// Returns whether some acquire removed another process's lock with no release in transit.
pub(super) fn takes_over(timeline: &Timeline<'_>) -> bool {
    timeline.keys.iter().any(|key| match key.to {
        Some((at, KeyEnd::Changed { change: Change::Removed, by: Some(by), .. })) => {
            key.by != Some(by)
                && timeline.acquiring(by, at).is_some()
                && has_no_release(timeline, by, at)
        }
        _ => false,
    })
}

/// Returns whether the acquiring process removed a lock, whose value begins with a Unix time, and
/// then immediately set its own lock at the same server.
fn takes_at_once(timeline: &Timeline<'_>, attempt: &Acquisition<'_>, removed: Moment) -> bool {
    let mut keys = timeline.keys.iter();
    let stale = keys.find(|key| key.to.is_some_and(|(to, _)| to == removed));
    let Some(stale) = stale.filter(|key| value_time::begins_with_unix_time(key)) else {
        return false;
    };
    let later = timeline.keys.iter().filter(|key| key.node == stale.node && removed < key.from);
    let next = later.min_by_key(|key| key.from);
    next.is_some_and(|next| {
        next.by == Some(attempt.process) && next.from.time.since(removed.time) <= TAKES_MAX
    })
}
