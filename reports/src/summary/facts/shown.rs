use crate::explain::narrate;
use crate::judge::timeline::Timeline;
use crate::record::history::{Action, Change, Event, History, Turn, What};
use crate::summary::report::TimelineEntry;
use crate::summary::violation::Violation;
use fencepost_faults::{Impact, Node};
use std::collections::BTreeSet;

const SHOWN_MAX: usize = 40;
const SHOWN_OF_QUIET_MAX: usize = 60;
const AFTERMATH_US: u64 = 100_000;
const BESIDE_MIN: usize = 12;

pub(super) fn most_relevant<'t, 'h>(
    whole: &'t Timeline<'h>,
    locks: &'t [Timeline<'h>],
    violations: &[Violation],
) -> &'t Timeline<'h> {
    let named = violations.first().and_then(|violation| {
        locks.iter().find(|lock| lock.history.header.resource == violation.resource)
    });
    let busiest = || locks.iter().max_by_key(|lock| lock.acquisitions.len());
    named.or_else(busiest).unwrap_or(whole)
}

pub(super) fn timeline(whole: &Timeline<'_>, violations: &[Violation]) -> Vec<TimelineEntry> {
    let mut shown: BTreeSet<usize> = BTreeSet::new();
    let mut evidence: BTreeSet<u64> = BTreeSet::new();
    let resource = &whole.history.header.resource;
    for violation in violations.iter().filter(|one| one.resource == *resource) {
        shown.extend(window(whole.history, violation));
        shown.extend(violation.narrative.iter().filter_map(|line| {
            let events = &whole.history.events;
            events.binary_search_by_key(&line.event, |event| event.sequence).ok()
        }));
        evidence.extend(violation.witness.iter().map(|event| event.sequence));
    }
    entries(whole, shown, &evidence)
}

fn entries(
    whole: &Timeline<'_>,
    shown: BTreeSet<usize>,
    evidence: &BTreeSet<u64>,
) -> Vec<TimelineEntry> {
    let mut before: Option<usize> = None;
    let entries = shown.into_iter().map(|index| {
        let entry = entry(whole, before, index, evidence);
        before = Some(index);
        entry
    });
    entries.collect()
}

pub(super) fn around_faults(whole: &Timeline<'_>) -> Vec<TimelineEntry> {
    let events = whole.history.events.iter().enumerate();
    let faults: Vec<u64> = events
        .clone()
        .filter(|(_, event)| is_fault(event))
        .map(|(_, event)| event.time_us.0)
        .collect();
    let distance = |event: &Event| {
        let each = faults.iter().map(|at| at.abs_diff(event.time_us.0));
        each.min().unwrap_or(event.time_us.0)
    };
    let telling = events.filter(|(_, event)| is_of_a_quiet_run(whole.history, event));
    let mut chosen: Vec<(u64, usize)> =
        telling.map(|(index, event)| (distance(event), index)).collect();
    chosen.sort_unstable();
    chosen.truncate(SHOWN_OF_QUIET_MAX);
    let chosen: BTreeSet<usize> = chosen.into_iter().map(|(_, index)| index).collect();
    entries(whole, chosen, &BTreeSet::new())
}

pub(super) fn side_by_side(
    violation: &Violation,
    found: &History,
    other: &History,
) -> [Vec<TimelineEntry>; 2] {
    let of_lock = |history: &History| {
        let locks = history.by_lock();
        let lock = locks.into_iter().find(|lock| lock.header.resource == violation.resource);
        lock.unwrap_or_else(|| history.clone())
    };
    let (found, other) = (of_lock(found), of_lock(other));
    let span = widened(span(violation, &found), violation, &other);
    [&found, &other].map(|history| {
        let first = history.events.iter().find(|event| event.time_us.0 >= span.0);
        let first = first.map_or(u64::MAX, |event| event.sequence);
        let indices = (0..history.events.len()).filter(|index| {
            let event = &history.events[*index];
            is_in(span, event) && is_relevant(history, event, violation)
                || event.sequence < first && is_fault(event) && acts_on(history, *index, first)
                || event.sequence < first && stands_at(history, *index, first)
        });
        let mut chosen: Vec<usize> = indices.collect();
        chosen.sort_by_key(|index| {
            let event = &history.events[*index];
            (!is_fault(event), event.time_us.0.abs_diff(violation.at_us.0), *index)
        });
        chosen.truncate(SHOWN_MAX);
        entries(&Timeline::new(history), chosen.into_iter().collect(), &BTreeSet::new())
    })
}

fn span(violation: &Violation, history: &History) -> (u64, u64) {
    let steps: BTreeSet<u64> = violation.narrative.iter().map(|line| line.event).collect();
    let told = history.events.iter().filter(|event| steps.contains(&event.sequence));
    let times = violation.witness.iter().chain(told).map(|event| event.time_us.0);
    let (from, to) = times
        .fold((violation.at_us.0, violation.at_us.0), |(from, to), at| (from.min(at), to.max(at)));
    (from, to + AFTERMATH_US)
}

/// Widens the span until it contains `BESIDE_MIN` relevant events of the history, or all of them if
/// there are fewer.
fn widened((from, to): (u64, u64), violation: &Violation, history: &History) -> (u64, u64) {
    let relevant = history.events.iter().filter(|event| is_relevant(history, event, violation));
    let times: Vec<u64> = relevant.map(|event| event.time_us.0).collect();
    let mut distances: Vec<u64> =
        times.iter().map(|at| from.saturating_sub(*at).max(at.saturating_sub(to))).collect();
    distances.sort_unstable();
    let wider = distances.get(BESIDE_MIN - 1).or(distances.last()).copied().unwrap_or(0);
    (from.saturating_sub(wider), to + wider)
}

fn is_in((from, to): (u64, u64), event: &Event) -> bool {
    (from..=to).contains(&event.time_us.0)
}

fn is_of_a_quiet_run(history: &History, event: &Event) -> bool {
    match &event.what {
        What::Server { key, primary, .. } => *primary && *key == history.header.resource,
        What::Invoke { action, .. } => *action == Action::Release,
        What::Ok { owner, .. } => owner.is_some(),
        What::Fail { .. } | What::Info { .. } | What::Storage { .. } => false,
        _ => true,
    }
}

fn entry(
    whole: &Timeline<'_>,
    before: Option<usize>,
    index: usize,
    evidence: &BTreeSet<u64>,
) -> TimelineEntry {
    let (history, event) = (whole.history, &whole.history.events[index]);
    let hidden = before.map_or(0, |before| before + 1)..index;
    let began = whole
        .sections
        .iter()
        .filter(|section| hidden.contains(&section.from.index) && !whole.is_inner(section));
    let moment = whole.moment(index);
    let mut holding: Vec<Node> = whole
        .sections
        .iter()
        .filter(|section| section.covers(moment))
        .map(|section| section.process)
        .collect();
    holding.sort();
    holding.dedup();
    let stops = whole.faults.iter().filter(|fault| {
        fault.kind.impact() == Impact::Freezes
            && fault.from <= moment
            && fault.to.is_none_or(|to| moment < to)
    });
    let stopped: BTreeSet<Node> = stops.flat_map(|fault| fault.nodes.to_vec()).collect();
    TimelineEntry {
        sequence: event.sequence,
        time_us: event.time_us,
        process: event.node,
        what: event.what.clone(),
        text: narrate::text(history, event),
        nested: whole.sections.iter().any(|one| one.from.index == index && whole.is_inner(one)),
        witness: evidence.contains(&event.sequence),
        left_out: hidden.len() as u64,
        left_out_sections: began.map(|section| section.process).collect(),
        stopped: holding.iter().copied().filter(|node| stopped.contains(&node.machine())).collect(),
        holding,
    }
}

fn window(history: &History, violation: &Violation) -> BTreeSet<usize> {
    let witness: BTreeSet<u64> = violation.witness.iter().map(|event| event.sequence).collect();
    let (Some(first), Some(last)) = (witness.first(), witness.last()) else {
        return BTreeSet::new();
    };
    let telling = |(index, event): (usize, &Event)| {
        let at = event.sequence;
        let within = *first <= at && at <= *last;
        let is_evidence = witness.contains(&at);
        let fault = is_fault(event) && (within || (at < *first && acts_on(history, index, *first)));
        let stands = at < *first && stands_at(history, index, *first);
        (is_evidence || fault || stands || (within && is_relevant(history, event, violation)))
            .then_some((rank(event, is_evidence), index))
    };
    let mut chosen: Vec<(u8, usize)> =
        history.events.iter().enumerate().filter_map(telling).collect();
    chosen.sort_by_key(|(rank, index)| {
        (*rank, history.events[*index].time_us.0.abs_diff(violation.at_us.0), *index)
    });
    chosen.truncate(SHOWN_MAX.max(witness.len()));
    chosen.into_iter().map(|(_, index)| index).collect()
}

fn rank(event: &Event, is_evidence: bool) -> u8 {
    match &event.what {
        _ if is_evidence => 0,
        _ if is_fault(event) => 1,
        What::Crashed | What::Started | What::GivenUp { .. } | What::Lost | What::Healed => 2,
        What::Turn { turn, .. } if turn.changes_data() => 2,
        What::Server { change: Change::Granted | Change::Extended, .. } => 4,
        What::Server { .. } => 3,
        _ => 4,
    }
}

fn is_fault(event: &Event) -> bool {
    matches!(event.what, What::FaultBegan { .. } | What::FaultEnded { .. })
}

fn acts_on(history: &History, index: usize, at: u64) -> bool {
    let What::FaultBegan { fault, .. } = &history.events[index].what else { return false };
    let ends = history.events[index..].iter().find(
        |event| matches!(&event.what, What::FaultEnded { fault: ended, .. } if ended == fault),
    );
    ends.is_some_and(|event| event.sequence > at)
}

fn stands_at(history: &History, index: usize, at: u64) -> bool {
    let event = &history.events[index];
    let What::Turn { turn: Turn::Promoted | Turn::Unaware, .. } = event.what else { return false };
    let mut later = history.events[index + 1..].iter().take_while(|later| later.sequence < at);
    !later.any(|later| {
        later.node == event.node
            && match later.what {
                What::Crashed => true,
                What::Turn { turn, .. } => turn.changes_data(),
                _ => false,
            }
    })
}

fn is_relevant(history: &History, event: &Event, violation: &Violation) -> bool {
    let involved = |node: Node| violation.processes.contains(&node);
    match &event.what {
        What::Crashed
        | What::Started
        | What::Healed
        | What::Turn { .. }
        | What::FaultBegan { .. }
        | What::FaultEnded { .. } => true,
        What::Lost
        | What::GivenUp { .. }
        | What::Silent { .. }
        | What::Ok { owner: Some(_), .. }
        | What::Invoke { action: Action::Release, .. } => involved(event.node),
        What::Invoke { .. }
        | What::Ok { .. }
        | What::Fail { .. }
        | What::Info { .. }
        | What::About { .. } => false,
        What::Server { key, change, primary, .. } => {
            *key == history.header.resource
                && (*primary || !matches!(change, Change::Granted | Change::Removed))
        }
        What::Storage { by, accepted, .. } => involved(*by) || !accepted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;
    use crate::samples;

    #[test]
    fn the_events_shown_are_the_nearest_to_the_violation() {
        let begun = Story::new().ttl(10_000).acquires(990, 1).grants(995, 1, "a");
        let renewals = (2_000..8_000).step_by(100);
        let renewed = renewals.clone().fold(begun.hears(1_000, 1, "a"), |story, ms| {
            story.server(ms, 1, Change::Extended, "a", Some(Node::Client(1)))
        });
        let overlapping = renewed.expires(17_900, "a").takes(18_000, 2, "b").releases(19_000, 2);
        let shown = samples::facts(overlapping).timeline;
        let has = |ms: u64| shown.iter().any(|entry| entry.time_us.0 == ms * 1_000);
        assert!(renewals.count() > SHOWN_MAX && has(18_000));
        assert!(has(7_900) && !has(2_000), "the last renewal is nearer than the first");
    }
}
