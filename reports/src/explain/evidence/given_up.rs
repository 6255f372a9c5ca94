use super::period::Period;
use crate::judge::timeline::{Acquisition, KeyEnd, KeySpan, Moment, Outcome, Timeline};
use crate::record::history::{Change, What};
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

/// Returns whether an abandoned call left the lock's count too high: an acquire that the server
/// counted, or a release that did not lower the count. Ignores interrupted calls that still
/// returned an outcome.
pub(super) fn left_count_too_high(timeline: &Timeline<'_>, standing: &KeySpan<'_>) -> bool {
    let events = &timeline.history.events;
    let has_outcome = |of: u64| {
        events.iter().any(|event| {
            matches!(event.what, What::Ok { operation, .. } | What::Fail { operation, .. }
                if operation == of)
        })
    };
    events.iter().filter(|event| Some(event.node) == standing.by).any(|event| {
        let What::GivenUp { operation, .. } = event.what else { return false };
        let Some(invoked) = timeline.invocation_of(operation) else { return false };
        invoked < standing.from
            && !has_outcome(operation)
            && !ended_between(timeline, standing, invoked)
            && match timeline.acquisition_of(operation) {
                Some(_) => {
                    was_changed(timeline, standing, invoked, |span| !timeline.is_lowered(span))
                }
                None => !was_changed(timeline, standing, invoked, |span| timeline.is_lowered(span)),
            }
    })
}

/// Returns whether a server changed the lock in this `way` for the call invoked at this time.
fn was_changed(
    timeline: &Timeline<'_>,
    standing: &KeySpan<'_>,
    invoked: Moment,
    way: impl Fn(&KeySpan<'_>) -> bool,
) -> bool {
    let later = &timeline.history.events[invoked.index + 1..];
    let next = later.iter().position(|event| {
        Some(event.node) == standing.by && matches!(event.what, What::Invoke { .. })
    });
    let until = next.map_or(timeline.history.events.len(), |next| invoked.index + 1 + next);
    timeline.keys.iter().any(|span| {
        span.node == standing.node
            && span.by == standing.by
            && invoked < span.from
            && span.from.index < until
            && way(span)
    })
}

fn ended_between(timeline: &Timeline<'_>, standing: &KeySpan<'_>, from: Moment) -> bool {
    timeline.keys.iter().filter(|span| span.node == standing.node).any(|span| {
        let gone = span.to.filter(|(_, how)| *how != KeyEnd::Replaced);
        gone.is_some_and(|(gone, _)| from < gone && gone < standing.from)
    })
}

/// Returns whether a given-up acquire, and not a fault, may have left the node behind.
pub(super) fn has_left_node(
    timeline: &Timeline<'_>,
    creator: Option<Node>,
    first: &KeySpan<'_>,
) -> bool {
    let is_whose =
        |process: Node| creator.is_none_or(|creator| process.machine() == creator.machine());
    let mut acquires = timeline.acquisitions.iter();
    acquires.any(|one| {
        is_whose(one.process)
            && one.invoked < first.from
            && acquire(timeline, one)
            && !was_disturbed(timeline, one)
    })
}

/// Returns whether a fault of the process or of a server may have lost the answer to the acquire.
fn was_disturbed(timeline: &Timeline<'_>, one: &Acquisition<'_>) -> bool {
    let until = one.completed.map_or(timeline.end, |completed| completed.time);
    let machine = one.process.machine();
    timeline.faults.iter().filter(|fault| fault.touches(one.invoked.time, until)).any(|fault| {
        match fault.kind.impact() {
            Impact::LosesReply | Impact::HoldsUpMessages | Impact::Freezes => fault.names(machine),
            Impact::Kills => fault.names(machine) || fault.nodes.iter().any(|it| it.is_server()),
            _ => false,
        }
    })
}

/// Returns whether each of the processes had given up a call, and such a call may have left the
/// last lock behind. The probe never gives up a call.
pub(super) fn all_gave_up(timeline: &Timeline<'_>, processes: &[Node], until: SimTime) -> bool {
    let did = |process: &Node| {
        let events = timeline.history.events.iter().take_while(|event| event.time_us <= until);
        let mut own = events.filter(|event| event.node == *process);
        own.any(|event| matches!(event.what, What::GivenUp { .. }))
    };
    let mut others = processes.iter().filter(|process| **process != Node::Probe).peekable();
    others.peek().is_some() && others.all(did) && !is_last_of_another_call(timeline, until)
}

/// Returns whether the last lock belongs to a failed acquire that the application did not give up.
fn is_last_of_another_call(timeline: &Timeline<'_>, until: SimTime) -> bool {
    let is_next = |one: &Acquisition<'_>| {
        one.outcome == Outcome::Granted && one.completed.is_some_and(|told| until <= told.time)
    };
    let set = timeline.keys.iter().filter(|span| span.from.time < until && span.by.is_some());
    let last = set.filter(|span| !setters(timeline, span).next().is_some_and(is_next));
    last.max_by_key(|span| span.from).is_some_and(|last| {
        let failed = setters(timeline, last).next().map(|one| one.outcome);
        failed.is_some_and(|is| is != Outcome::Granted) && !is_of_given_up(timeline, last)
    })
}

/// Returns the process's acquires that began before it set this value, the latest first.
fn setters<'t, 'h>(
    timeline: &'t Timeline<'h>,
    span: &KeySpan<'_>,
) -> impl Iterator<Item = &'t Acquisition<'h>> {
    let (by, from) = (span.by, span.from);
    let acquisitions = timeline.acquisitions.iter().rev();
    acquisitions.filter(move |one| Some(one.process) == by && one.invoked < from)
}

/// Returns whether the process may have set the value for a given-up acquire and got no lock since.
fn is_of_given_up(timeline: &Timeline<'_>, span: &KeySpan<'_>) -> bool {
    let mut failed = setters(timeline, span).take_while(|one| one.outcome != Outcome::Granted);
    failed.any(|one| acquire(timeline, one))
}

/// Returns whether a given-up call's lock expired, and its lock-delay blocked the lock meanwhile.
pub(super) fn left_lock_delay(timeline: &Timeline<'_>, Period { from, until }: Period) -> bool {
    let Some(delay) = timeline.history.header.lock_delay_us else { return false };
    timeline.keys.iter().any(|span| {
        let expired = span
            .to
            .filter(|(_, how)| matches!(how, KeyEnd::Changed { change: Change::Expired, .. }));
        expired.is_some_and(|(at, _)| at.time < until && from < at.time + delay)
            && is_of_given_up(timeline, span)
    })
}
