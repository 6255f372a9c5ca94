//! Why a lock that was free was not had, though enough servers ran.

use super::Standstill;
use super::clocks::clocks_differ;
use super::owner::of_owner;
use super::spans::{mostly, waiter_died};
use super::votes::{of_standing_votes, votes_are_split};
use crate::explain::evidence::period::Period;
use crate::explain::evidence::{asleep, session};
use crate::judge::finding::Finding;
use crate::judge::timeline::{Acquisition, Timeline, creator};
use fencepost_faults::{FaultKind, Impact, Micros, Node, SimTime};

/// Why no process got a free lock, though enough servers ran.
pub(super) fn of_outage(timeline: &Timeline<'_>, finding: &Finding) -> Option<Standstill> {
    let span = Period::of_finding(finding);
    let any = |kind: FaultKind| {
        timeline.faults.iter().any(|fault| {
            fault.kind == kind
                && fault.touches(span.from, span.until)
                && fault.nodes.iter().any(|node| node.is_server())
        })
    };
    if waiter_stood_still(timeline, span) {
        return Some(Standstill::WaiterStoodStill);
    }
    if asleep::waits_for_an_answer(timeline, finding) {
        return Some(Standstill::OnDeadConnections);
    }
    if asleep::slept_on(timeline, finding) {
        return Some(Standstill::NotTold);
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
    of_standing_votes(timeline, span)
        .or_else(|| votes_are_split(timeline, span).then_some(Standstill::VotesSplit))
        .or_else(|| waiter_died(timeline, span).then_some(Standstill::WaiterDied))
        .or_else(|| clocks_differ(timeline, finding).then_some(Standstill::ClocksDiffer))
        .or_else(|| of_owner(timeline, mostly(timeline, span).next()?, span.until))
}

/// Returns whether the first in the queue was paused for most of the outage, while a running
/// process wanted the lock. For an unordered lock, the first to ask counts as first in the queue if
/// it got the lock in the end.
fn waiter_stood_still(timeline: &Timeline<'_>, period: Period) -> bool {
    let Period { from, until } = period;
    let stood_still = |process: &Node| {
        let pauses = timeline.faults.iter().filter(|fault| fault.does(Impact::Freezes, *process));
        let stood = pauses.map(|fault| fault.within(from, until)).max();
        stood.is_some_and(|stood| period.is_mostly(stood))
    };
    let header = &timeline.history.header;
    let got_it = |process: &Node| {
        timeline.keys.iter().any(|span| span.from.time == until && span.by == Some(*process))
    };
    let first = match header.lives_with_session {
        true => session::first_node(timeline, period)
            .and_then(|node| creator(timeline.history, node.value?)),
        false => first_to_ask(timeline, period)
            .filter(|first| header.order_bound_us.is_some() || got_it(first)),
    };
    first.as_ref().is_some_and(stood_still)
}

/// The first to ask among the processes that wanted the lock for most of a time.
fn first_to_ask(timeline: &Timeline<'_>, period: Period) -> Option<Node> {
    let Period { from, until } = period;
    let asked = |one: &&Acquisition<'_>| {
        let end = one.completed.map_or(until, |completed| completed.time.min(until));
        period.is_mostly(end.since(one.invoked.time.max(from)))
    };
    let first = timeline.acquisitions.iter().filter(asked).min_by_key(|one| one.invoked);
    first.map(|one| one.process)
}

/// Returns whether for most of a time some server was down or paused.
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

/// Returns whether for most of a time no server that clients were sent to was a primary: there was
/// none, or Sentinels named another.
fn has_no_primary(timeline: &Timeline<'_>, period: Period) -> bool {
    let Period { from, until } = period;
    let roles = &timeline.roles;
    let without = roles.without_primary(from, until).max(roles.misnamed(from, until));
    period.is_mostly(without)
}
