use super::Standstill;
use super::clocks::clocks_differ;
use super::owner::{lost_by, of_absent, of_owner};
use super::spans::{values_for_most_of, waiter_died};
use super::votes::{of_standing_votes, votes_are_split};
use crate::explain::evidence::period::Period;
use crate::explain::evidence::{lost_wakeup, session};
use crate::judge::finding::Finding;
use crate::judge::timeline::{Acquisition, FaultSpan, Moment, Timeline, creator};
use crate::record::history::What;
use fencepost_faults::{FaultKind, Impact, Micros, Node, SimTime};
use std::collections::BTreeSet;

pub(super) fn of_outage(timeline: &Timeline<'_>, finding: &Finding) -> Option<Standstill> {
    let span = Period::of_finding(finding);
    let any = |kind: FaultKind| {
        timeline.faults.iter().any(|fault| {
            fault.kind == kind
                && fault.within(span.from, span.until) > Micros::ZERO
                && fault.nodes.iter().any(|node| node.is_server())
        })
    };
    if was_waiter_paused(timeline, span) {
        return Some(Standstill::WaiterPaused);
    }
    if lost_wakeup::waits_for_an_answer(timeline, finding)
        || lost_wakeup::waits_on_dead_connections(timeline, finding)
    {
        return Some(Standstill::OnDeadConnections);
    }
    let slept =
        || finding.processes.iter().all(|process| slept_if_waiting(timeline, *process, span));
    if lost_wakeup::missed_release(timeline, finding) && slept()
        || first_missed_release(timeline, span)
    {
        return Some(Standstill::NotNotified);
    }
    // If a quorum of servers was reachable, the locks at these servers explain the wait.
    let votes = || {
        of_standing_votes(timeline, span)
            .or_else(|| votes_are_split(timeline, span).then_some(Standstill::VotesSplit))
    };
    let is_reached = !any(FaultKind::Delay) && reaches_a_quorum(timeline, span);
    if let Some(votes) = votes().filter(|_| is_reached) {
        return Some(votes);
    }
    if servers_were_away(timeline, span) {
        return Some(Standstill::ServersAway);
    }
    if has_no_primary(timeline, span) {
        return Some(Standstill::NoPrimary);
    }
    if any(FaultKind::Partition) {
        return Some(Standstill::NetworkCut);
    }
    if any(FaultKind::Delay) {
        return Some(Standstill::MessagesLate);
    }
    if timeline.history.header.locks_unseen {
        return None;
    }
    of_absent(timeline, span)
        .filter(|is| *is == Standstill::OwnerRenews)
        .or_else(votes)
        .or_else(|| waiter_died(timeline, span).then_some(Standstill::WaiterDied))
        .or_else(|| clocks_differ(timeline, finding).then_some(Standstill::ClocksDiffer))
        .or_else(|| {
            let standing = values_for_most_of(timeline, span).next()?;
            of_owner(timeline, standing, span.until).or_else(|| of_last_holder(timeline, span.from))
        })
}

/// Returns the reason if the process that left at `at` received no confirmation of its release.
fn of_last_holder(timeline: &Timeline<'_>, at: SimTime) -> Option<Standstill> {
    let left = |to: Moment| to.time == at;
    let section = timeline.sections.iter().find(|section| section.to.is_some_and(left))?;
    lost_by(timeline, &timeline.acquisitions[section.acquisition])
}

fn was_waiter_paused(timeline: &Timeline<'_>, period: Period) -> bool {
    let Period { from, until } = period;
    let stood_still = |process: &Node| {
        let pauses = timeline.faults.iter().filter(|fault| fault.does(Impact::Freezes, *process));
        let stood = pauses.map(|fault| fault.within(from, until)).max();
        stood.is_some_and(|stood| period.is_mostly(stood))
    };
    let header = &timeline.history.header;
    if header.lives_with_session {
        let first = session::first_node(timeline, period)
            .and_then(|node| creator(timeline.history, node.value?));
        return first.as_ref().is_some_and(stood_still);
    }
    let asked = asked_throughout(timeline, period);
    let first = asked.iter().min_by_key(|one| one.invoked).map(|one| one.process);
    let is_first = |process: &Node| match header.order_bound_us {
        Some(_) => first == Some(*process),
        None => was_granted_at(timeline, *process, until),
    };
    asked.iter().map(|one| &one.process).any(|process| is_first(process) && stood_still(process))
}

/// Returns whether the next process slept although the lock was free. The next process is the one
/// that got the lock when the period ended, or the first to request it, if still asleep then.
fn first_missed_release(timeline: &Timeline<'_>, period: Period) -> bool {
    let Period { from, until } = period;
    let asked = asked_throughout(timeline, period);
    let first = asked.iter().min_by_key(|one| one.invoked).map(|one| one.process);
    timeline.history.events.iter().any(|event| {
        let What::Silent { since_us, .. } = event.what else { return false };
        let was_next = event.time_us <= until && was_granted_at(timeline, event.node, until);
        let slept_beyond = until < event.time_us && first == Some(event.node);
        let is_throughout = period.is_mostly(event.time_us.min(until).since(from));
        since_us <= from && is_throughout && (was_next || slept_beyond)
    })
}

/// Returns whether the process sent nothing for most of the period. Returns `true` for a process
/// that did not want the lock when the period began.
fn slept_if_waiting(timeline: &Timeline<'_>, process: Node, period: Period) -> bool {
    let Period { from, until } = period;
    let wanted = timeline.acquisitions.iter().any(|one| {
        one.process == process
            && one.invoked.time <= from
            && one.completed.is_none_or(|completed| from < completed.time)
    });
    let events = timeline.history.events.iter().filter(|event| event.node == process);
    let silent = events.fold(Micros::ZERO, |sum, event| match event.what {
        What::Silent { since_us, .. } => sum + event.time_us.min(until).since(since_us.max(from)),
        _ => sum,
    });
    !wanted || period.is_mostly(silent)
}

fn was_granted_at(timeline: &Timeline<'_>, process: Node, at: SimTime) -> bool {
    timeline.keys.iter().any(|span| span.from.time == at && span.by == Some(process))
}

fn asked_throughout<'t, 'h>(
    timeline: &'t Timeline<'h>,
    period: Period,
) -> Vec<&'t Acquisition<'h>> {
    let Period { from, until } = period;
    let asked = |one: &&Acquisition<'_>| {
        let end = one.completed.map_or(until, |completed| completed.time.min(until));
        period.is_mostly(end.since(one.invoked.time.max(from)))
    };
    timeline.acquisitions.iter().filter(asked).collect()
}

fn servers_were_away(timeline: &Timeline<'_>, period: Period) -> bool {
    let Period { from, until } = period;
    let gone = timeline.faults.iter().filter(|fault| {
        matches!(fault.kind.impact(), Impact::Kills | Impact::Freezes)
            && fault.nodes.iter().any(|node| node.is_server())
    });
    let gone = gone.map(|fault| (fault.from.time, fault.to.map_or(until, |to| to.time)));
    let mut away: Vec<(SimTime, SimTime)> = gone.chain(timeline.downtimes()).collect();
    away.sort_unstable();
    let (mut sum, mut counted) = (Micros::ZERO, from);
    for (since, to) in away {
        sum = sum + to.min(until).since(since.max(counted));
        counted = counted.max(to);
    }
    period.is_mostly(sum)
}

fn reaches_a_quorum(timeline: &Timeline<'_>, period: Period) -> bool {
    let Period { from, until } = period;
    let header = &timeline.history.header;
    let servers = header.availability.map_or(0, |rule| rule.servers);
    let spare = usize::from(servers.saturating_sub(header.quorum));
    let ends = |cut: &FaultSpan<'_>| cut.to.map_or(until, |to| to.time.min(until));
    let cuts: Vec<&FaultSpan<'_>> = timeline
        .faults
        .iter()
        .filter(|fault| fault.kind == FaultKind::Partition && fault.touches(from, until))
        .collect();
    let changes = cuts.iter().flat_map(|cut| [cut.from.time.max(from), ends(cut)]);
    let changes: BTreeSet<SimTime> = changes.chain([from, until]).collect();
    let spans = changes.iter().zip(changes.iter().skip(1));
    let too_few = spans.fold(Micros::ZERO, |sum, (begin, end)| {
        let acting = cuts.iter().filter(|cut| cut.from.time <= *begin && *end <= ends(cut));
        let named = acting.flat_map(|cut| cut.nodes).filter(|node| node.is_server());
        let cut_off: BTreeSet<&Node> = named.collect();
        if cut_off.len() > spare { sum + end.since(*begin) } else { sum }
    });
    header.quorum > 1 && !period.is_mostly(too_few)
}

fn has_no_primary(timeline: &Timeline<'_>, period: Period) -> bool {
    let Period { from, until } = period;
    let roles = &timeline.roles;
    let without = roles.without_primary(from, until).max(roles.misnamed(from, until));
    period.is_mostly(without)
}
