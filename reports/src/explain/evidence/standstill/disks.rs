use crate::explain::evidence::period::Period;
use crate::judge::timeline::Timeline;
use crate::record::history::What;
use fencepost_faults::{Micros, Node, SimTime};
use std::collections::BTreeSet;

/// First word of the error with which Redis refuses writes while it cannot persist them.
const REFUSAL: &str = "MISCONF";

type Span = (SimTime, SimTime);

pub(super) fn disks_failed(timeline: &Timeline<'_>, period: Period) -> bool {
    timeline.history.header.sync_fails.is_some()
        && (were_stopped(timeline, period)
            || writes_were_refused(timeline, period)
            || reply_was_a_refusal(timeline, period))
}

fn were_stopped(timeline: &Timeline<'_>, period: Period) -> bool {
    let stopped = timeline.stopped_by_disks().into_iter().map(|(_, span)| span).collect();
    period.is_mostly(time_with(1, stopped, period))
}

/// Returns whether disk failures explain the wait. They do if too few servers accepted writes for
/// most of the period, and at least one process sent a request instead of only waiting.
fn writes_were_refused(timeline: &Timeline<'_>, period: Period) -> bool {
    let header = &timeline.history.header;
    let refusals = timeline.refusals();
    if refusals.is_empty() || !asked(timeline, period) {
        return false;
    }
    let of_span = |server: Node, span: Span| match header.quorum {
        0 | 1 => timeline.roles.as_primary(server, span),
        _ => vec![span],
    };
    let refused = refusals.iter().flat_map(|one| of_span(one.server, (one.from.time, one.until)));
    let stopped = timeline.stopped_by_disks().into_iter().map(|(_, span)| span);
    let enough = match (header.quorum, header.availability) {
        (0 | 1, _) => 1,
        (_, Some(rule)) => usize::from(rule.servers.saturating_sub(rule.needed)) + 1,
        (quorum, None) => usize::from(quorum),
    };
    period.is_mostly(time_with(enough, refused.chain(stopped).collect(), period))
}

/// Returns for how long during the period at least `enough` spans are open.
fn time_with(enough: usize, spans: Vec<Span>, Period { from, until }: Period) -> Micros {
    let mut changes: Vec<(SimTime, bool)> = Vec::new();
    for (since, to) in spans {
        let (since, to) = (since.max(from), to.min(until));
        if since < to {
            changes.extend([(since, true), (to, false)]);
        }
    }
    changes.sort_unstable();
    let (mut open, mut before, mut sum) = (0, from, Micros::ZERO);
    for (at, begins) in changes {
        if open >= enough {
            sum = sum + at.since(before);
        }
        before = at;
        open = if begins { open + 1 } else { open - 1 };
    }
    sum
}

fn asked(timeline: &Timeline<'_>, Period { from, until }: Period) -> bool {
    let silent: BTreeSet<Node> = timeline
        .history
        .events
        .iter()
        .filter(|event| matches!(event.what, What::Silent { since_us, .. } if since_us <= until))
        .map(|event| event.node)
        .collect();
    timeline.acquisitions.iter().any(|one| {
        let ends = one.completed.map_or(timeline.end, |completed| completed.time);
        one.invoked.time <= until && from <= ends && !silent.contains(&one.process)
    })
}

fn reply_was_a_refusal(timeline: &Timeline<'_>, Period { from, until }: Period) -> bool {
    let events = timeline.history.events.iter().rev();
    let then = events.filter(|event| from <= event.time_us && event.time_us <= until);
    let mut reasons = then.filter_map(|event| match &event.what {
        What::Fail { reason, .. } | What::Info { reason, .. } => Some(reason),
        _ => None,
    });
    reasons.next().is_some_and(|last| last.contains(REFUSAL))
}
