//! What stands in the way when nobody gets in, or one that waits is not served.
//!
//! Of a lock that must be had and was not: the first in the queue stood still itself; all who wait slept on; a server was down or stood still
//! meanwhile; no server was a primary; messages were held up; then as below, of votes, those who
//! died and clocks. Of waiting that ends in nothing: all who wait do so on dead connections, or
//! slept on. Then, and of a lock that nobody gets: locks of attempts that were given up stand at a
//! quorum of the servers; processes divide the servers among them; a lock stands at a server whose
//! owner died or does not know of it, or whose release was lost; a server that followed another
//! never received a release; nothing stands, and all who wait sleep on; nothing stands, and a
//! process died while it waited; nothing stands, and the clocks by which a row is read differ;
//! nothing stands, and all who want the lock gave up a call before. Where a lock stands, its owner
//! may have given up the call.

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

/// From how many extensions on they are renewals though none was seen before: one or two may be
/// commands that were sent again.
const RENEWALS_MIN: usize = 3;

/// What stands in the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standstill {
    /// The lock became free, and nothing told those who wait.
    NotTold,
    /// All who wait do so on connections that have ended.
    OnDeadConnections,
    /// A server was down or stood still.
    ServersAway,
    /// No server that clients were sent to was a primary.
    NoPrimary,
    /// The network was cut between servers, or between one and a process.
    NetworkCut,
    /// Messages to or between servers were late.
    MessagesLate,
    /// Several processes divided the servers among them.
    VotesSplit,
    /// The owner of a lock that stands died.
    OwnerDied,
    /// The owner of a lock that stands never heard that it has it.
    OwnerUnaware(Obstacle),
    /// The owner of a lock that stands was told that it has not got it, and no fault was at work.
    OwnerMisled,
    /// The owner of a lock that stands was told that it had given it back.
    OwnerReleased,
    /// The owner of a lock that stands gave it back and never heard whether that arrived.
    ReleaseUnheard,
    /// The owner of a lock that stands is not in its section and goes on renewing it.
    OwnerRenews,
    /// The first of the queue is a node that no process knows of.
    UnknownNode,
    /// A server that followed another never received that the lock was given back.
    ReleaseNotCopied,
    /// The application gave up a call, and what that had left behind stands.
    CallGivenUp,
    /// A process died while it waited.
    WaiterDied,
    /// The first in the queue stood still.
    WaiterStoodStill,
    /// The clocks by which a row is read differ.
    ClocksDiffer,
}

/// What stands in the way of those whom a finding names.
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

/// Why a lock that was free was not had, though enough servers ran.
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

/// Whether for most of the time in which a lock was not had the first in its queue stood still,
/// while one that ran wanted it. Of a lock that promises no order, the one that had asked first was
/// the first in a queue if it got the lock in the end.
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

/// Of the processes that asked for the lock during most of a time, the one that asked first.
fn first_to_ask(timeline: &Timeline<'_>, (from, until): (SimTime, SimTime)) -> Option<Node> {
    let asked = |one: &&Acquisition<'_>| {
        let end = one.completed.map_or(until, |completed| completed.time.min(until));
        end.since(one.invoked.time.max(from)).0 * 2 > until.since(from).0
    };
    let first = timeline.acquisitions.iter().filter(asked).min_by_key(|one| one.invoked);
    first.map(|one| one.process)
}

/// Whether for most of a time some server was down or stood still.
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

/// Whether for most of a time no server that clients were sent to was a primary: there was none, or
/// Sentinels named another.
fn has_no_primary(timeline: &Timeline<'_>, (from, until): (SimTime, SimTime)) -> bool {
    let roles = &timeline.roles;
    let without = roles.without_primary(from, until).max(roles.misnamed(from, until));
    without.0 * 2 > until.since(from).0
}

/// The first reason that the history shows why nobody gets in.
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
        // It goes when its lease is over, and that wakes nobody either.
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

/// Whose the first node of a queue is that no process knows of.
fn of_unknown(timeline: &Timeline<'_>, first: &KeySpan<'_>) -> Standstill {
    let creator = first.value.and_then(|node| creator(timeline.history, node));
    match given_up::left_a_node(timeline, creator, first) {
        true => Standstill::CallGivenUp,
        false => Standstill::UnknownNode,
    }
}

/// Nothing stands, and yet nobody gets in: all who want the lock gave up a call before, which their
/// libraries may still count.
fn of_impatient(timeline: &Timeline<'_>, finding: &Finding) -> Option<Standstill> {
    let until = finding.at + finding.duration;
    let all = given_up::all_did(timeline, &finding.processes, until);
    all.then_some(Standstill::CallGivenUp)
}

/// Whether a row that was given back says so by the clock of who gave it back, and that process, or
/// one that a finding names, which compares the row with its own clock, has had a wrong one.
fn clocks_differ(timeline: &Timeline<'_>, finding: &Finding) -> bool {
    timeline.history.header.kept_as == Some(Keeping::RowByClients)
        && wrong_clock(timeline, finding).is_some()
}

/// The last fault of a clock of a process that has a part in who may take a row: one that waits, or
/// the one that gave the row back last.
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

/// What stood when a time in which nobody got in was over, besides the lock of the one who got in
/// then.
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

/// Whether several processes were granted parts of a quorum and gave them back, and together had
/// enough servers for one of them.
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

/// Why locks that nobody used stood at a quorum of the servers for most of a time, so that nobody
/// could have one; nothing if they did not.
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

/// Whether the process that asked for this lock tried again under another name before it was
/// granted any: it does not know of this one.
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

/// Whether a process was granted this and gave it back in the course of one acquire. What happens
/// in the course of a release is none: some locks count down there what they had counted up.
fn is_attempt(timeline: &Timeline<'_>, span: &KeySpan<'_>, ended: Moment) -> bool {
    timeline.acquisitions.iter().any(|one| {
        Some(one.process) == span.by
            && one.invoked < span.from
            && one.completed.is_none_or(|completed| ended < completed)
    })
}

/// What became of the process that held the lock under the name of a node that still stands.
fn of_holder(timeline: &Timeline<'_>, node: &KeySpan<'_>, until: SimTime) -> Option<Standstill> {
    let mut holders = timeline.acquisitions.iter().rev();
    let holder = holders.find(|one| one.owner.is_some() && one.owner == node.value)?;
    let died =
        holder.completed.is_some_and(|since| died_between(timeline, holder.process, since, until));
    if died { Some(Standstill::OwnerDied) } else { lost_by(timeline, holder) }
}

/// What became of the process whose lock still stands: of its acquires, the last that had begun
/// when the lock was granted. It may have died, or given up, before that.
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

/// Whether an acquire that was granted in the end had been granted this before, without hearing it.
fn is_unheard(owner: &Acquisition<'_>, span: &KeySpan<'_>) -> bool {
    let is_own = span.value.zip(owner.owner).is_some_and(|(value, own)| is_one_owner(value, own));
    !is_own && owner.completed.is_some_and(|told| span.from < told)
}

/// Why a lock still stands at a server although its owner gave it back and was told so. What was
/// written there before that, the release did not reach: of many servers, not all need it. What was
/// written after it began is a command of which the owner had not heard, applied late; or a count
/// that such a command had raised, so that the release only lowered it.
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

/// The locks that stood for most of the time in which nobody got in.
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

/// What became of the process whose lock stood for most of the time in which nobody got in, though
/// nobody was in its section: it died, or it goes on renewing what it does not hold.
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

/// Whether a process died between a moment and an instant.
fn died_between(timeline: &Timeline<'_>, process: Node, from: Moment, until: SimTime) -> bool {
    let later = timeline.history.events[from.index..].iter();
    let mut meanwhile = later.take_while(|event| event.time_us <= until);
    meanwhile.any(|event| event.node == process.machine() && matches!(event.what, What::Crashed))
}

/// A lock that stands at a server which followed another, where it was removed: that never reached
/// the server.
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

/// A lock that stands at a server which followed another, and whose owner died, or gave it back
/// without ever hearing of that.
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

/// Whether a holder left and does not know whether its release arrived.
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

/// Whether a process died while it waited, and for nearly all of the span nothing stood under the
/// lock's key.
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
