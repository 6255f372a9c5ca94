use crate::judge::finding::Finding;
use crate::judge::timeline::{Acquisition, KeySpan, Moment, Timeline};
use crate::record::history::{Keeping, Turn, What};
use fencepost_faults::{Node, SimTime};

pub(super) fn waits_on_dead_connections(timeline: &Timeline<'_>, finding: &Finding) -> bool {
    let died = |from: Moment, told: Moment| {
        let meanwhile = &timeline.history.events[from.index..told.index];
        let is_server = |node: Node| matches!(node, Node::Server(_));
        meanwhile.iter().any(|event| is_server(event.node) && matches!(event.what, What::Crashed))
    };
    let until = finding.at + finding.duration;
    let still_waits = |process: &&Node| {
        timeline.acquisitions.iter().any(|one| {
            one.process == **process
                && one.invoked.time <= until
                && one.completed.is_none_or(|completed| until <= completed.time)
        })
    };
    let is_dead = |process: &Node| {
        silence(timeline, finding, *process).is_some_and(|(invoked, told)| died(invoked, told))
    };
    let waiting: Vec<&Node> = finding.processes.iter().filter(still_waits).collect();
    timeline.history.header.kept_as == Some(Keeping::Connection)
        && !waiting.is_empty()
        && waiting.into_iter().all(is_dead)
}

pub(super) fn waits_for_an_answer(timeline: &Timeline<'_>, finding: &Finding) -> bool {
    let unanswered = |process: &Node| {
        let Some((since, told)) = last_silence(timeline, finding, *process) else { return false };
        timeline.history.events[..told.index].iter().any(|event| {
            since <= event.time_us
                && matches!(event.what, What::Turn { turn: Turn::Unanswered, about: Some(about) }
                    if about == process.machine())
        })
    };
    !finding.processes.is_empty() && finding.processes.iter().all(unanswered)
}

/// Returns whether all waiting processes slept when the lock became free. Ignores the process whose
/// entry ended the violation if its acquire began during the violation.
pub(super) fn missed_release(timeline: &Timeline<'_>, finding: &Finding) -> bool {
    let end = finding.at + finding.duration;
    let mut sections = timeline.sections.iter().rev();
    let entered = sections.find(|section| section.from.time == end);
    let taker = entered.map(|section| &timeline.acquisitions[section.acquisition]);
    let asked_late = |process: Node| {
        taker.is_some_and(|taker| taker.process == process && finding.at <= taker.invoked.time)
    };
    let missed = |process: Node| {
        silence(timeline, finding, process).is_some_and(|(invoked, told)| {
            let until = told.min(end_of(timeline, finding, told));
            became_free(timeline, (invoked, until), taker)
        })
    };
    let mut waiting = finding.processes.iter().filter(|one| !asked_late(**one)).peekable();
    waiting.peek().is_some() && waiting.all(|process| missed(*process))
}

fn end_of(timeline: &Timeline<'_>, finding: &Finding, told: Moment) -> Moment {
    let end = finding.at + finding.duration;
    let mut events = timeline.history.events[..told.index].iter();
    match events.position(|event| event.time_us >= end) {
        Some(index) if end < told.time => timeline.moment(index),
        _ => told,
    }
}

fn silence(timeline: &Timeline<'_>, finding: &Finding, process: Node) -> Option<(Moment, Moment)> {
    let (_, told) = last_silence(timeline, finding, process)?;
    let mut latest_first = timeline.acquisitions.iter().rev();
    let waits = latest_first.find(|one| one.process == process && one.is_open_at(told))?;
    Some((waits.invoked, told))
}

fn last_silence(
    timeline: &Timeline<'_>,
    finding: &Finding,
    process: Node,
) -> Option<(SimTime, Moment)> {
    let (from, until) = (finding.at, finding.at + finding.duration);
    let events = timeline.history.events.iter().enumerate().rev();
    let mut silences = events.filter_map(|(index, event)| match event.what {
        What::Silent { since_us, .. } if event.node == process => {
            Some((since_us, timeline.moment(index)))
        }
        _ => None,
    });
    silences.find(|(since, told)| *since <= until && from <= told.time)
}

fn became_free(
    timeline: &Timeline<'_>,
    (from, until): (Moment, Moment),
    taker: Option<&Acquisition<'_>>,
) -> bool {
    let went = |span: &KeySpan<'_>| {
        let told = span.to.is_some_and(|(to, _)| from < to && to < until);
        let existed_until = timeline.existed_until(span);
        told || (from.time < existed_until && existed_until < until.time && span.from < until)
    };
    let is_of_taker =
        |span: &KeySpan<'_>| taker.is_some_and(|taker| timeline.is_lock_of(span, taker));
    let stands = |span: &KeySpan<'_>| timeline.exists_at(span, until) && !is_of_taker(span);
    timeline.keys.iter().any(went) && !timeline.keys.iter().any(stands)
}
