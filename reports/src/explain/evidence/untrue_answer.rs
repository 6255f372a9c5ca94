use super::period::Period;
use super::session;
use crate::judge::checker::wrong_answer::attempt_with;
use crate::judge::finding::Finding;
use crate::judge::timeline::{
    Acquisition, FaultSpan, KeyEnd, KeySpan, Moment, Timeline, is_lower_count,
};
use crate::record::history::{Change, What};
use fencepost_faults::{FaultKind, Impact, Node, SimTime};
use std::collections::BTreeSet;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UntrueAnswer {
    /// The process waited with its second node and did not know of its first node.
    OfAnotherNode,
    Refused(Obstacle),
    Succeeded(Obstacle),
    KeptByCount,
    /// While a fault was active, a command of the process removed the lock that it was acquiring.
    TakenBack,
    /// A partition delayed the grant beyond the lease or the stated validity.
    CutOff,
    /// Another fault delayed the grant beyond the lease or the stated validity.
    Late(Obstacle),
    /// No fault explains the answer, or too few servers had granted the lock.
    Unfounded,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Obstacle {
    /// A fault that stops messages, such as a lost reply, a partition or a crash.
    Loss,
    Delay,
    Pause,
}

/// Returns the kind of fault that kept the servers' answers from the process during the period. An
/// empty period has no obstacle, because no answer fits into it.
pub(super) fn obstacle(
    timeline: &Timeline<'_>,
    process: Node,
    servers: &[Node],
    Period { from, until }: Period,
) -> Option<Obstacle> {
    let process = process.machine();
    let faults = timeline.faults.iter().filter(|fault| {
        let has_ended = fault.to.is_some_and(|end| end.time <= from);
        from < until && fault.touches(from, until) && !has_ended
    });
    let acted = faults.filter(|fault| blocks_answers(fault, process, servers));
    let obstacles = acted.map(|fault| match fault.kind {
        FaultKind::Delay | FaultKind::SlowServer => Obstacle::Delay,
        _ if fault.does(Impact::Freezes, process) => Obstacle::Pause,
        _ => Obstacle::Loss,
    });
    obstacles.min_by_key(|obstacle| match obstacle {
        Obstacle::Loss => 0,
        Obstacle::Pause => 1,
        Obstacle::Delay => 2,
    })
}

pub(super) fn grant<'t, 'h>(
    timeline: &'t Timeline<'h>,
    finding: &Finding,
) -> Option<&'t Acquisition<'h>> {
    match timeline.history.events[*finding.witness.last()?].what {
        What::Ok { operation, .. } => {
            Some(&timeline.acquisitions[timeline.acquisition_of(operation)?])
        }
        _ => None,
    }
}

/// Returns why an answer was wrong. If too few servers granted the lock, no fault is the reason.
pub(super) fn of_finding(timeline: &Timeline<'_>, finding: &Finding) -> Option<UntrueAnswer> {
    let told = timeline.moment(*finding.witness.last()?);
    let events = &timeline.history.events;
    let invoked = |operation: &u64| Some(timeline.invocation_of(*operation)?.time);
    let is_undisturbed = |from| {
        from == told.time || !timeline.faults.iter().any(|fault| fault.touches(from, told.time))
    };
    if let Some(acquisition) = grant(timeline, finding) {
        return Some(of_grant(timeline, acquisition, told));
    }
    let (from, misheard): (_, fn(Obstacle) -> UntrueAnswer) = match &events[told.index].what {
        What::Ok { operation, .. } => (invoked(operation)?, UntrueAnswer::Succeeded),
        What::Fail { operation, .. } => {
            (refused_from(timeline, finding, *operation)?, UntrueAnswer::Refused)
        }
        // The evidence starts with a change of the lock, and only later faults count.
        What::Lost => (events[*finding.witness.first()?].time_us, UntrueAnswer::Refused),
        _ => return None,
    };
    let span = Period { from, until: told.time };
    let process = events[told.index].node;
    let is_refused = matches!(events[told.index].what, What::Fail { .. });
    if is_refused && session::has_second_node(timeline, process, span) {
        return Some(UntrueAnswer::OfAnotherNode);
    }
    if !kept_by_count(timeline, finding).is_empty() {
        return Some(UntrueAnswer::KeptByCount);
    }
    let servers = finding.witness.iter().map(|index| events[*index].node);
    let servers: Vec<Node> = servers.filter(|node| node.is_server()).collect();
    let obstacle = obstacle(timeline, process, &servers, span);
    let header = &timeline.history.header;
    let ends_silently = header.lives_with_session;
    let is_unfounded =
        has_one_server_with_a_ttl(timeline) || !ends_silently && is_undisturbed(from);
    obstacle.map(misheard).or(is_unfounded.then_some(UntrueAnswer::Unfounded))
}

/// Returns the start of the acquire that wrote the remaining value or, if none is known, the start
/// of the failed call.
fn refused_from(timeline: &Timeline<'_>, finding: &Finding, operation: u64) -> Option<SimTime> {
    let told = timeline.acquisition_of(operation).map(|index| &timeline.acquisitions[index]);
    let value = finding.witness.iter().find_map(|index| {
        let event = &timeline.history.events[*index];
        let What::Server { change: Change::Granted, value, .. } = &event.what else { return None };
        value.as_deref()
    });
    let attempt = told.zip(value).map(|(one, value)| attempt_with(timeline, one, value));
    let invoked = attempt.map(|one| one.invoked).or_else(|| timeline.invocation_of(operation));
    invoked.map(|at| at.time)
}

/// Returns the servers at which a release only lowered a count, because a fault had interfered with
/// the answer to an earlier acquire.
pub(super) fn kept_by_count(timeline: &Timeline<'_>, finding: &Finding) -> Vec<Node> {
    let Some(told) = finding.witness.last().map(|index| timeline.moment(*index)) else {
        return Vec::new();
    };
    let event = &timeline.history.events[told.index];
    let What::Ok { operation, owner: None, .. } = event.what else { return Vec::new() };
    let Some(invoked) = timeline.invocation_of(operation) else { return Vec::new() };
    let process = event.node;
    let is_lowered = |span: &&KeySpan<'_>| {
        span.by == Some(process)
            && invoked < span.from
            && span.from < told
            && timeline.is_lowered(span)
            && timeline.exists_at(span, told)
            && has_raised_unanswered(timeline, process, span)
    };
    let servers: BTreeSet<Node> =
        timeline.keys.iter().filter(is_lowered).map(|span| span.node).collect();
    servers.into_iter().collect()
}

/// Returns whether a fault interfered with the answers to the acquire that first raised the count
/// outside a critical section.
pub(super) fn has_raised_unanswered(
    timeline: &Timeline<'_>,
    process: Node,
    lowered: &KeySpan<'_>,
) -> bool {
    let mut counted = vec![lowered];
    while let Some(before) = counted.last().and_then(|span| {
        let mut keys = timeline.keys.iter();
        keys.find(|it| it.node == span.node && it.to == Some((span.from, KeyEnd::Replaced)))
    }) {
        counted.push(before);
    }
    let is_outside = |at: Moment| {
        let mut sections = timeline.sections.iter();
        !sections.any(|section| section.process == process && section.covers(at))
    };
    let is_raised = |pair: &&[&KeySpan<'_>]| {
        let values = pair[0].value.zip(pair[1].value);
        values.is_some_and(|(now, before)| is_lower_count(now, before)) && is_outside(pair[0].from)
    };
    let Some(raised) = counted.windows(2).rev().find(is_raised).map(|pair| pair[0].from) else {
        return false;
    };
    timeline.acquiring(process, raised).is_some_and(|one| {
        let until = one.completed.map_or(timeline.end, |completed| completed.time);
        let period = Period { from: one.invoked.time, until };
        obstacle(timeline, process, &[lowered.node], period).is_some()
    })
}

/// Returns why a grant was wrong. A fault is the reason only if a quorum's grant came too late.
fn of_grant(timeline: &Timeline<'_>, one: &Acquisition<'_>, told: Moment) -> UntrueAnswer {
    let had: Vec<&KeySpan<'_>> = timeline
        .keys
        .iter()
        .filter(|span| span.by.map(Node::machine) == Some(one.process.machine()))
        .filter(|span| one.invoked < span.from && span.from < told)
        .collect();
    let servers: BTreeSet<Node> = had.iter().map(|span| span.node).collect();
    let stands = had.iter().filter(|span| timeline.exists_at(span, told));
    let standing: BTreeSet<Node> = stands.map(|span| span.node).collect();
    let quorum = usize::from(timeline.history.header.quorum.max(1));
    // The lock counted its validity from the answer instead of from the grant.
    let is_counted_late = one.valid_for.is_some_and(|stated| {
        had.iter().any(|span| span.runs_out.is_some_and(|end| stated <= end.since(span.from.time)))
    });
    let is_late = standing.len() < quorum || is_counted_late;
    if servers.len() < quorum || !is_late {
        return UntrueAnswer::Unfounded;
    }
    let servers: Vec<Node> = servers.into_iter().collect();
    let span = Period { from: one.invoked.time, until: told.time };
    let is_cut = timeline.faults.iter().any(|fault| {
        fault.kind == FaultKind::Partition
            && fault.touches(span.from, span.until)
            && blocks_answers(fault, one.process.machine(), &servers)
    });
    match obstacle(timeline, one.process, &servers, span) {
        Some(_) if timeline.reuses_owner(one) && taken_back(timeline, one).is_some() => {
            UntrueAnswer::TakenBack
        }
        Some(_) if is_cut => UntrueAnswer::CutOff,
        Some(obstacle) => UntrueAnswer::Late(obstacle),
        None => UntrueAnswer::Unfounded,
    }
}

pub(super) fn taken_back(timeline: &Timeline<'_>, one: &Acquisition<'_>) -> Option<(Node, Moment)> {
    let (machine, told) = (one.process.machine(), one.completed?);
    timeline.keys.iter().find_map(|span| match span.to? {
        (at, KeyEnd::Changed { change: Change::Removed, by: Some(by), .. }) => {
            let is_own = [span.by?, by].map(Node::machine) == [machine, machine];
            (is_own && one.invoked < span.from && at < told).then_some((span.node, at))
        }
        _ => None,
    })
}

pub(super) fn is_unfounded(timeline: &Timeline<'_>, refused: &Acquisition<'_>) -> bool {
    let Some(completed) = refused.completed else { return false };
    let mut faults =
        timeline.faults.iter().filter(|fault| fault.touches(refused.invoked.time, completed.time));
    has_one_server_with_a_ttl(timeline)
        && !faults.any(|fault| {
            !matches!(
                fault.kind.impact(),
                Impact::BendsClock | Impact::LosesKeys | Impact::TakesOver
            )
        })
}

fn has_one_server_with_a_ttl(timeline: &Timeline<'_>) -> bool {
    let header = &timeline.history.header;
    header.quorum <= 1 && !header.has_no_ttl()
}

fn blocks_answers(fault: &FaultSpan<'_>, process: Node, servers: &[Node]) -> bool {
    let names_server = servers.iter().any(|server| fault.names(*server));
    match fault.kind.impact() {
        Impact::HoldsUpMessages | Impact::LosesReply | Impact::LosesRequest => {
            fault.names(process) && names_server
        }
        Impact::Freezes | Impact::Slows | Impact::Kills => fault.names(process) || names_server,
        Impact::IsOperated => names_server,
        Impact::BendsClock | Impact::LosesKeys | Impact::TakesOver => false,
    }
}
