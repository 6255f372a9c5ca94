//! Finds out whether servers stopped or refused writes because their disks failed to sync.

use crate::explain::evidence::period::Period;
use crate::judge::timeline::Timeline;
use crate::record::history::What;
use fencepost_faults::Micros;

/// Start of the error with which Redis refuses writes while it cannot persist them.
const REFUSAL: &str = "MISCONF";

pub(super) fn disks_failed(timeline: &Timeline<'_>, period: Period) -> bool {
    timeline.history.header.sync_fails.is_some()
        && (were_stopped(timeline, period) || were_refused(timeline, period))
}

fn were_stopped(timeline: &Timeline<'_>, period: Period) -> bool {
    let Period { from, until } = period;
    let mut away = timeline.stopped_by_disks();
    away.sort_unstable_by_key(|(_, span)| *span);
    let (mut sum, mut counted) = (Micros::ZERO, from);
    for (_, (since, to)) in away {
        sum = sum + to.min(until).since(since.max(counted));
        counted = counted.max(to);
    }
    period.is_mostly(sum)
}

fn were_refused(timeline: &Timeline<'_>, Period { from, until }: Period) -> bool {
    let events = timeline.history.events.iter().rev();
    let then = events.filter(|event| from <= event.time_us && event.time_us <= until);
    let mut reasons = then.filter_map(|event| match &event.what {
        What::Fail { reason, .. } | What::Info { reason, .. } => Some(reason),
        _ => None,
    });
    reasons.next().is_some_and(|last| last.contains(REFUSAL))
}
