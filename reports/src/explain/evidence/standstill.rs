//! The obstacle when no process gets in, or a waiter is not served.
//!
//! For an available lock that no process got, in this order: the first in the queue paused; all
//! waiters slept on; a server was down or paused; no server was a primary; messages were delayed;
//! then as below, votes, crashed processes and clocks. For hopeless waits: all waiters wait on dead
//! connections, or slept on. Then, and for a lock that no process gets: locks of abandoned attempts
//! exist at a quorum of the servers; processes split the servers between them; a server has a lock
//! whose owner crashed or does not know of it, or whose release was lost; a replica never received
//! a release; there is no lock, and all waiters sleep on; there is no lock, and a process crashed
//! while it waited; there is no lock, and the clocks that compare a row differ; there is no lock,
//! and all interested processes gave up a call before. Where a lock exists, its owner may have
//! given up the call.

use super::misheard::Obstacle;
use super::session::First;
use super::{asleep, given_up, lease, misheard, release, session};
use crate::judge::finding::{Finding, Kind};
use crate::judge::timeline::{
    Acquisition, FaultSpan, KeyEnd, KeySpan, Moment, Outcome, Section, SectionEnd, Timeline,
    creator, is_one_owner,
};
use crate::record::history::{Change, Keeping, What};
use fencepost_faults::{FaultKind, Impact, Micros, Node, SimTime};
use std::collections::{BTreeMap, BTreeSet};

/// The number of extensions from which on they count as renewals without earlier ones: one or two
/// may be retries.
const RENEWALS_MIN: usize = 3;

/// The obstacle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standstill {
    /// The lock became free, and the waiters were not notified.
    NotTold,
    /// All waiters wait on dead connections.
    OnDeadConnections,
    /// A server was down or paused.
    ServersAway,
    /// No server that Sentinels named was a primary.
    NoPrimary,
    /// The network was cut between servers, or between one and a process.
    NetworkCut,
    /// Messages to or between servers were late.
    MessagesLate,
    /// Several processes split the servers between them.
    VotesSplit,
    /// The owner of an existing lock crashed.
    OwnerDied,
    /// The owner of an existing lock never heard of its grant.
    OwnerUnaware(Obstacle),
    /// The owner of an existing lock was refused, without a fault.
    OwnerMisled,
    /// The owner of an existing lock was told that its release succeeded.
    OwnerReleased,
    /// The owner of an existing lock released it without hearing the outcome.
    ReleaseUnheard,
    /// The owner of an existing lock has left its critical section and still renews it.
    OwnerRenews,
    /// No process knows of the first node in the queue.
    UnknownNode,
    /// A replica never received the release.
    ReleaseNotCopied,
    /// The application gave up a call, and its effects remain.
    CallGivenUp,
    /// A process crashed while it waited.
    WaiterDied,
    /// The first in the queue was paused.
    WaiterStoodStill,
    /// The clocks that compare a row differ.
    ClocksDiffer,
}

/// The obstacle for the processes of a finding.
pub(super) fn of_finding(timeline: &Timeline<'_>, finding: &Finding) -> Option<Standstill> {
    match finding.kind {
        Kind::Unavailable => of_outage(timeline, finding),
        _ if asleep::waits_for_an_answer(timeline, finding) => Some(Standstill::OnDeadConnections),
        Kind::Deadlock | Kind::Starved if asleep::waits_for_the_dead(timeline, finding) => {
            Some(Standstill::OnDeadConnections)
        }
        Kind::Deadlock | Kind::Starved if asleep::slept_on(timeline, finding) => {
            Some(Standstill::NotTold)
        }
        _ => of_stuck(timeline, finding),
    }
}

/// Why no process got a free lock, though enough servers ran.
fn of_outage(timeline: &Timeline<'_>, finding: &Finding) -> Option<Standstill> {
    let span = (finding.at, finding.at + finding.duration);
    let any = |kind: FaultKind| {
        timeline.faults.iter().any(|fault| {
            fault.kind == kind
                && fault.touches(span.0, span.1)
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
        .or_else(|| of_owner(timeline, mostly(timeline, span).next()?, span.1))
}

/// Returns whether the first in the queue was paused for most of the outage, while a running
/// process wanted the lock. For an unordered lock, the first to ask counts as first in the queue if
/// it got the lock in the end.
fn waiter_stood_still(timeline: &Timeline<'_>, (from, until): (SimTime, SimTime)) -> bool {
    let stood_still = |process: &Node| {
        let pauses = timeline.faults.iter().filter(|fault| fault.does(Impact::Freezes, *process));
        let stood = pauses.map(|fault| fault.within(from, until)).max();
        stood.is_some_and(|stood| stood.0 * 2 > until.since(from).0)
    };
    let header = &timeline.history.header;
    let got_it = |process: &Node| {
        timeline.keys.iter().any(|span| span.from.time == until && span.by == Some(*process))
    };
    let first = match header.lives_with_session {
        true => session::first_node(timeline, (from, until))
            .and_then(|node| creator(timeline.history, node.value?)),
        false => first_to_ask(timeline, (from, until))
            .filter(|first| header.order_bound_us.is_some() || got_it(first)),
    };
    first.as_ref().is_some_and(stood_still)
}

/// The first to ask among the processes that wanted the lock for most of a time.
fn first_to_ask(timeline: &Timeline<'_>, (from, until): (SimTime, SimTime)) -> Option<Node> {
    let asked = |one: &&Acquisition<'_>| {
        let end = one.completed.map_or(until, |completed| completed.time.min(until));
        end.since(one.invoked.time.max(from)).0 * 2 > until.since(from).0
    };
    let first = timeline.acquisitions.iter().filter(asked).min_by_key(|one| one.invoked);
    first.map(|one| one.process)
}

/// Returns whether for most of a time some server was down or paused.
fn servers_were_away(timeline: &Timeline<'_>, (from, until): (SimTime, SimTime)) -> bool {
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
    sum.0 * 2 > until.since(from).0
}

/// Returns whether for most of a time no server that clients were sent to was a primary: there was
/// none, or Sentinels named another.
fn has_no_primary(timeline: &Timeline<'_>, (from, until): (SimTime, SimTime)) -> bool {
    let roles = &timeline.roles;
    let without = roles.without_primary(from, until).max(roles.misnamed(from, until));
    without.0 * 2 > until.since(from).0
}

/// The first obstacle in the history that explains why no process gets in.
fn of_stuck(timeline: &Timeline<'_>, finding: &Finding) -> Option<Standstill> {
    let span = (finding.at, finding.at + finding.duration);
    let has_sessions = timeline.history.header.lives_with_session;
    let standing = match has_sessions {
        true => session::first_node(timeline, span),
        false => still_there(timeline, span).find(|span| span.by.is_some()).cloned(),
    };
    match standing.as_ref() {
        _ if votes_are_split(timeline, span) => {
            of_standing_votes(timeline, span).or(Some(Standstill::VotesSplit))
        }
        _ if asleep::waits_for_the_dead(timeline, finding) => Some(Standstill::OnDeadConnections),
        Some(standing) if has_sessions => match session::of_queue(timeline, standing, span.1) {
            Some(First::WaitsOn) => Some(Standstill::NotTold),
            Some(First::IsUnknown) => Some(of_unknown(timeline, standing)),
            None => of_holder(timeline, standing, span.1),
        },
        None if has_sessions => asleep::slept_on(timeline, finding)
            .then_some(Standstill::NotTold)
            .or_else(|| of_impatient(timeline, finding)),
        // It is removed when its lease expires, but that wakes no waiter either.
        Some(standing) if finding.kind == Kind::Deadlock && standing.runs_out.is_some() => {
            Some(Standstill::NotTold)
        }
        Some(standing) => {
            let renews = of_absent(timeline, span).filter(|is| *is == Standstill::OwnerRenews);
            renews.or_else(|| of_owner(timeline, standing, span.1))
        }
        None => of_absent(timeline, span)
            .or_else(|| unheard_release(timeline, span))
            .or_else(|| lost_release(timeline, span))
            .or_else(|| asleep::slept_on(timeline, finding).then_some(Standstill::NotTold))
            .or_else(|| of_owner(timeline, mostly(timeline, span).next()?, span.1))
            .or_else(|| waiter_died(timeline, span).then_some(Standstill::WaiterDied))
            .or_else(|| clocks_differ(timeline, finding).then_some(Standstill::ClocksDiffer))
            .or_else(|| of_impatient(timeline, finding)),
    }
}

/// The owner of the first node in a queue that no process knows of.
fn of_unknown(timeline: &Timeline<'_>, first: &KeySpan<'_>) -> Standstill {
    let creator = first.value.and_then(|node| creator(timeline.history, node));
    match given_up::left_a_node(timeline, creator, first) {
        true => Standstill::CallGivenUp,
        false => Standstill::UnknownNode,
    }
}

/// There is no lock, and yet no process gets in: all interested processes gave up a call before,
/// which their libraries may still count.
fn of_impatient(timeline: &Timeline<'_>, finding: &Finding) -> Option<Standstill> {
    let until = finding.at + finding.duration;
    let all = given_up::all_did(timeline, &finding.processes, until);
    all.then_some(Standstill::CallGivenUp)
}

/// Returns whether a released row carries the release time of its owner's clock, and that process,
/// or one of the finding, which compares the row with its own clock, has had a wrong clock.
fn clocks_differ(timeline: &Timeline<'_>, finding: &Finding) -> bool {
    timeline.history.header.kept_as == Some(Keeping::RowByClients)
        && wrong_clock(timeline, finding).is_some()
}

/// The last clock fault of a process that affects who may take a row: a waiter, or the last to
/// release the row.
pub(crate) fn wrong_clock<'t, 'h>(
    timeline: &'t Timeline<'h>,
    finding: &Finding,
) -> Option<&'t FaultSpan<'h>> {
    let until = finding.at + finding.duration;
    let ended = timeline.keys.iter().rev().filter_map(|span| span.to);
    let last = ended.filter(|(at, _)| at.time <= until).max_by_key(|(at, _)| *at);
    let remover = last.and_then(|(at, _)| timeline.asked_by(at));
    let takes_part = |fault: &FaultSpan<'_>| {
        finding.processes.iter().chain(&remover).any(|node| fault.names(*node))
    };
    timeline.faults.iter().rev().find(|fault| {
        fault.kind.impact() == Impact::BendsClock && fault.from.time <= until && takes_part(fault)
    })
}

/// The locks that existed at the end of a time in which no process got in, except that of the
/// process that got in then.
fn still_there<'t, 'h>(
    timeline: &'t Timeline<'h>,
    (from, until): (SimTime, SimTime),
) -> impl Iterator<Item = &'t KeySpan<'h>> {
    let entered = timeline.sections.iter().find(move |section| {
        section.from.time == until && (until < timeline.end || section.from.time > from)
    });
    let taker = entered.map(|section| &timeline.acquisitions[section.acquisition]);
    timeline.keys.iter().filter(move |span| {
        let its_own = || taker.is_some_and(|taker| timeline.is_lock_of(span, taker));
        span.from.time < until && timeline.stood_until(span) >= until && !its_own()
    })
}

/// Returns whether several processes were granted parts of a quorum and released them, and together
/// had enough servers for one of them.
fn votes_are_split(timeline: &Timeline<'_>, (from, until): (SimTime, SimTime)) -> bool {
    let quorum = usize::from(timeline.history.header.quorum);
    let given_back = |span: &&KeySpan<'_>| {
        let removed = |end| {
            let (_, KeyEnd::Changed { change, by, .. }) = end else { return false };
            change == Change::Removed && by == span.by
        };
        from <= span.from.time
            && span.to.is_some_and(|end| {
                end.0.time <= until && removed(end) && is_attempt(timeline, span, end.0)
            })
    };
    let votes: Vec<&KeySpan<'_>> =
        timeline.keys.iter().filter(|span| span.by.is_some()).filter(given_back).collect();
    let processes: BTreeSet<Option<Node>> = votes.iter().map(|span| span.by).collect();
    let servers: BTreeSet<Node> = votes.iter().map(|span| span.node).collect();
    quorum > 1 && processes.len() > 1 && servers.len() >= quorum
}

/// Why unused locks existed at a quorum of the servers for most of a time, so that no process could
/// get one; `None` if they did not.
fn of_standing_votes(timeline: &Timeline<'_>, span: (SimTime, SimTime)) -> Option<Standstill> {
    let quorum = usize::from(timeline.history.header.quorum);
    let votes: Vec<&KeySpan<'_>> = mostly(timeline, span).collect();
    let servers: BTreeSet<Node> = votes.iter().map(|vote| vote.node).collect();
    let reason = |vote: &&KeySpan<'_>| match was_given_up(timeline, vote, span.1) {
        true => {
            let meanwhile = (vote.from.time, span.1);
            let obstacle =
                vote.by.and_then(|by| misheard::obstacle(timeline, by, &[vote.node], meanwhile));
            Some(Standstill::OwnerUnaware(obstacle.unwrap_or(Obstacle::Loss)))
        }
        false => of_owner(timeline, vote, span.1),
    };
    (quorum > 1 && servers.len() >= quorum).then(|| votes.iter().find_map(reason)).flatten()
}

/// Returns whether the owner of this lock retried under another name before it was granted any
/// lock: it does not know of this one.
fn was_given_up(timeline: &Timeline<'_>, vote: &KeySpan<'_>, until: SimTime) -> bool {
    let mut attempts = timeline.acquisitions.iter().rev();
    let attempt = attempts.find(|one| Some(one.process) == vote.by && one.invoked < vote.from);
    let completed = attempt.and_then(|one| one.completed);
    timeline.keys.iter().any(|later| {
        later.by == vote.by
            && later.value != vote.value
            && vote.from < later.from
            && later.from.time <= until
            && completed.is_none_or(|completed| later.from < completed)
    })
}

/// Returns whether a process was granted this and released it during one acquire. Changes during a
/// release do not count: some locks decrement then what they had incremented.
fn is_attempt(timeline: &Timeline<'_>, span: &KeySpan<'_>, ended: Moment) -> bool {
    timeline.acquisitions.iter().any(|one| {
        Some(one.process) == span.by
            && one.invoked < span.from
            && one.completed.is_none_or(|completed| ended < completed)
    })
}

/// The fate of the process that held the lock under the name of a remaining node.
fn of_holder(timeline: &Timeline<'_>, node: &KeySpan<'_>, until: SimTime) -> Option<Standstill> {
    let mut holders = timeline.acquisitions.iter().rev();
    let holder = holders.find(|one| one.owner.is_some() && one.owner == node.value)?;
    let died =
        holder.completed.is_some_and(|since| died_between(timeline, holder.process, since, until));
    if died { Some(Standstill::OwnerDied) } else { lost_by(timeline, holder) }
}

/// The fate of the owner of a remaining lock: of its acquires, the last that had begun at the
/// grant. It may have crashed, or given up, before that.
fn of_owner(timeline: &Timeline<'_>, span: &KeySpan<'_>, until: SimTime) -> Option<Standstill> {
    let mut acquisitions = timeline.acquisitions.iter().rev();
    let owner = acquisitions.find(|one| Some(one.process) == span.by && one.invoked < span.from)?;
    if died_between(timeline, owner.process, owner.invoked, until) {
        return Some(Standstill::OwnerDied);
    }
    match owner.outcome {
        _ if given_up::acquire(timeline, owner) => Some(Standstill::CallGivenUp),
        Outcome::Unknown | Outcome::Refused if misheard::is_unfounded(timeline, owner) => {
            Some(Standstill::OwnerMisled)
        }
        Outcome::Unknown | Outcome::Refused => {
            let meanwhile = (owner.invoked.time, owner.completed.map_or(until, |to| to.time));
            let obstacle = misheard::obstacle(timeline, owner.process, &[span.node], meanwhile);
            Some(Standstill::OwnerUnaware(obstacle.unwrap_or(Obstacle::Loss)))
        }
        Outcome::Granted if is_unheard(owner, span) => {
            let meanwhile = (owner.invoked.time, span.from.time);
            let obstacle = misheard::obstacle(timeline, owner.process, &[span.node], meanwhile);
            obstacle.map(Standstill::OwnerUnaware)
        }
        Outcome::Granted => lost_by(timeline, owner).or_else(|| left_behind(timeline, owner, span)),
        Outcome::Open => None,
    }
}

/// Returns whether a successful acquire had already been granted this, without hearing of it.
fn is_unheard(owner: &Acquisition<'_>, span: &KeySpan<'_>) -> bool {
    let is_own = span.value.zip(owner.owner).is_some_and(|(value, own)| is_one_owner(value, own));
    !is_own && owner.completed.is_some_and(|told| span.from < told)
}

/// Why a server still has a lock although its owner's release was confirmed. The release did not
/// reach a value written before it: a quorum needs not all of many servers. A value written after
/// it began comes from a late command unknown to the owner; or it is a count that such a command
/// had raised, so that the release only lowered it.
fn left_behind(
    timeline: &Timeline<'_>,
    owner: &Acquisition<'_>,
    span: &KeySpan<'_>,
) -> Option<Standstill> {
    let index = timeline.acquisition_of(owner.operation)?;
    let section = timeline.section_of(index)?;
    let left = section.to.filter(|_| section.ended_by == SectionEnd::Release)?;
    match span.from < left {
        true if timeline.history.header.quorum > 1 => Some(Standstill::ReleaseUnheard),
        true => span.runs_out.is_none().then_some(Standstill::OwnerReleased),
        false if given_up::raised_a_count(timeline, span) => Some(Standstill::CallGivenUp),
        false => Some(Standstill::OwnerUnaware(Obstacle::Loss)),
    }
}

/// The locks that existed for most of the time in which no process got in.
fn mostly<'t, 'h>(
    timeline: &'t Timeline<'h>,
    (from, until): (SimTime, SimTime),
) -> impl Iterator<Item = &'t KeySpan<'h>> {
    let stood = move |span: &&KeySpan<'_>| {
        let end = timeline.stood_until(span).min(until);
        end.since(span.from.time.max(from)).0 * 2 > until.since(from).0
    };
    timeline.keys.iter().filter(|span| span.by.is_some()).filter(stood)
}

/// The fate of the process whose lock existed for most of the time in which no process got in,
/// though no process was in its critical section: it crashed, or it still renews a lock that it
/// does not hold.
fn of_absent(timeline: &Timeline<'_>, (from, until): (SimTime, SimTime)) -> Option<Standstill> {
    let span = mostly(timeline, (from, until)).next()?;
    let of = span.by?;
    // The grant itself sets a time to live, and is no renewal.
    let mut renewals: BTreeMap<Node, usize> = BTreeMap::new();
    for set in span.set.iter().filter(|set| span.from < **set) {
        if let Some(by) = timeline.asked_by(*set).filter(|_| from < set.time && set.time <= until) {
            *renewals.entry(by.machine()).or_default() += 1;
        }
    }
    let most = renewals.values().max().copied().unwrap_or(0);
    let renewed = most >= RENEWALS_MIN || most > 0 && lease::renews_by_itself(timeline);
    let inside = |section: &Section| {
        section.process.machine() == of.machine()
            && section.from.time < until
            && section.to.is_none_or(|to| from < to.time)
    };
    if renewed && !timeline.sections.iter().any(inside) {
        return Some(Standstill::OwnerRenews);
    }
    died_between(timeline, of, span.from, until).then_some(Standstill::OwnerDied)
}

/// Returns whether a process crashed between a moment and an instant.
fn died_between(timeline: &Timeline<'_>, process: Node, from: Moment, until: SimTime) -> bool {
    let later = timeline.history.events[from.index..].iter();
    let mut meanwhile = later.take_while(|event| event.time_us <= until);
    meanwhile.any(|event| event.node == process.machine() && matches!(event.what, What::Crashed))
}

/// A lock at a former replica that was removed at its primary: the removal never reached the
/// replica.
fn unheard_release(timeline: &Timeline<'_>, span: (SimTime, SimTime)) -> Option<Standstill> {
    let mut standing = still_there(timeline, span);
    let released = |span: &KeySpan<'_>| {
        let granted = span.value.and_then(|value| timeline.last_granted(value, span.from));
        let mut granting = timeline
            .keys
            .iter()
            .filter(|one| granted.is_some_and(|(_, moment)| moment == one.from));
        let removed =
            |end| matches!(end, (_, KeyEnd::Changed { change: Change::Removed, by: Some(_), .. }));
        granting.any(|one| one.node != span.node && one.to.is_some_and(removed))
    };
    standing.any(released).then_some(Standstill::ReleaseNotCopied)
}

/// A lock at a former replica whose owner crashed, or released it without hearing the outcome.
fn lost_release(timeline: &Timeline<'_>, span: (SimTime, SimTime)) -> Option<Standstill> {
    let mut owners = still_there(timeline, span).filter_map(|span| {
        timeline
            .acquisitions
            .iter()
            .rev()
            .find(|one| one.outcome == Outcome::Granted && timeline.is_lock_of(span, one))
    });
    owners.find_map(|owner| {
        let granted = owner.completed?;
        let died = died_between(timeline, owner.process, granted, span.1);
        died.then_some(Standstill::OwnerDied).or_else(|| lost_by(timeline, owner))
    })
}

/// Returns whether a holder left without knowing whether its release arrived.
fn lost_by(timeline: &Timeline<'_>, owner: &Acquisition<'_>) -> Option<Standstill> {
    let granted = owner.completed?;
    let end = timeline.moment(timeline.history.events.len() - 1);
    // Its next release is that of this lock: a process holds one at a time.
    let next = timeline.acquisitions.iter().find(|one| {
        one.process == owner.process && granted < one.invoked && one.outcome == Outcome::Granted
    });
    let until = next.map_or(end, |next| next.invoked);
    let sent = release::unknown(timeline, owner.process, until).filter(|sent| granted < *sent)?;
    Some(match given_up::call(timeline, sent) {
        true => Standstill::CallGivenUp,
        false => Standstill::ReleaseUnheard,
    })
}

/// Returns whether a process crashed while it waited, and for nearly all of the span no lock
/// existed.
fn waiter_died(timeline: &Timeline<'_>, (from, until): (SimTime, SimTime)) -> bool {
    let within =
        |span: &KeySpan<'_>| timeline.stood_until(span).min(until).since(span.from.time.max(from));
    let stood = timeline.keys.iter().map(within).fold(Micros::ZERO, |sum, span| sum + span);
    let mut acquisitions = timeline.acquisitions.iter();
    let died = acquisitions.any(|one| {
        let end = one.completed.filter(|end| end.time <= until);
        end.is_some_and(|end| matches!(timeline.history.events[end.index].what, What::Crashed))
    });
    died && stood.0 * 10 < until.since(from).0
}
