use crate::judge::timeline::{Acquisition, KeyEnd, KeySpan, Moment, Outcome, Timeline};
use crate::record::history::What;
use fencepost_faults::{Impact, Node, SimTime};

pub(super) fn acquire(timeline: &Timeline<'_>, one: &Acquisition<'_>) -> bool {
    one.outcome != Outcome::Granted && timeline.given_up(one.operation).is_some()
}

pub(super) fn call(timeline: &Timeline<'_>, invoked: Moment) -> bool {
    match timeline.history.events[invoked.index].what {
        What::Invoke { operation, .. } => timeline.given_up(operation).is_some(),
        _ => false,
    }
}

/// Returns whether a call that the application gave up left the lock's count too high: an acquire
/// that still counts, or a release that did not lower the count.
pub(super) fn has_raised_count(timeline: &Timeline<'_>, standing: &KeySpan<'_>) -> bool {
    let is_granted = |operation: u64| {
        let index = timeline.acquisition_of(operation);
        index.is_some_and(|index| timeline.acquisitions[index].outcome == Outcome::Granted)
    };
    let mut events = timeline.history.events.iter().enumerate();
    events.any(|(index, event)| {
        let given_up = timeline.moment(index);
        matches!(event.what, What::GivenUp { operation, .. } if !is_granted(operation))
            && Some(event.node) == standing.by
            && given_up < standing.from
            && !ended_between(timeline, standing, given_up)
    })
}

fn ended_between(timeline: &Timeline<'_>, standing: &KeySpan<'_>, from: Moment) -> bool {
    timeline.keys.iter().filter(|span| span.node == standing.node).any(|span| {
        let gone = span.to.filter(|(_, how)| *how != KeyEnd::Replaced);
        gone.is_some_and(|(gone, _)| from < gone && gone < standing.from)
    })
}

/// Returns whether an acquire that the application gave up, and not a fault, may have left the node
/// behind.
pub(super) fn has_left_node(
    timeline: &Timeline<'_>,
    creator: Option<Node>,
    first: &KeySpan<'_>,
) -> bool {
    let is_whose =
        |process: Node| creator.is_none_or(|creator| process.machine() == creator.machine());
    let mut faults = timeline.faults.iter().filter(|fault| fault.from < first.from);
    let lost = faults.any(|fault| {
        matches!(
            fault.kind.impact(),
            Impact::LosesReply | Impact::HoldsUpMessages | Impact::Kills | Impact::Freezes
        )
    });
    let mut acquires = timeline.acquisitions.iter();
    !lost
        && acquires
            .any(|one| is_whose(one.process) && one.invoked < first.from && acquire(timeline, one))
}

pub(super) fn all_gave_up(timeline: &Timeline<'_>, processes: &[Node], until: SimTime) -> bool {
    let did = |process: &Node| {
        let events = timeline.history.events.iter().take_while(|event| event.time_us <= until);
        let mut own = events.filter(|event| event.node == *process);
        own.any(|event| matches!(event.what, What::GivenUp { .. }))
    };
    !processes.is_empty() && processes.iter().all(did)
}
