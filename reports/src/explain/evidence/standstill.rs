//! Finds the reason why no process acquires the lock, or why a waiting process is not served.
//! `of_finding` returns the first reason that applies, in an order that depends on the broken rule.

mod circle;
mod clocks;
mod disks;
mod outage;
mod owner;
mod spans;
mod votes;

pub(crate) use clocks::wrong_clock;

use super::period::Period;
use super::session::FirstInQueue;
use super::untrue_answer::Obstacle;
use super::{given_up, lost_wakeup, session};
use crate::judge::finding::{Finding, Kind};
use crate::judge::timeline::{KeySpan, Outcome, Timeline, creator};
use circle::is_held_by_a_waiter;
use clocks::clocks_differ;
use disks::disks_failed;
use fencepost_faults::{FaultKind, Node, SimTime};
use outage::of_outage;
use owner::{lost_release, of_absent, of_holder, of_owner, unanswered_release};
use spans::{remaining_values, values_for_most_of, waiter_died};
use std::collections::BTreeSet;
use votes::{of_standing_votes, votes_are_split};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standstill {
    NotNotified,
    OnDeadConnections,
    DiskFailed,
    ServersAway,
    NoPrimary,
    NetworkCut,
    MessagesLate,
    VotesSplit,
    OwnerDied,
    OwnerUnaware(Obstacle),
    OwnerMisinformed,
    OwnerReleased,
    ReleaseUnanswered,
    /// The release only lowered a count that an earlier acquire had raised.
    KeptByCount,
    OwnerRenews,
    UnknownNode,
    ReleaseNotCopied,
    CallGivenUp,
    WaiterDied,
    WaiterPaused,
    ClocksDiffer,
    HeldByWaiter,
}

pub(super) fn of_finding(timeline: &Timeline<'_>, finding: &Finding) -> Option<Standstill> {
    match finding.kind {
        _ if disks_failed(timeline, Period::of_finding(finding)) => Some(Standstill::DiskFailed),
        Kind::Unavailable => of_outage(timeline, finding),
        Kind::Stuck if is_held_by_a_waiter(timeline, finding) => Some(Standstill::HeldByWaiter),
        _ if lost_wakeup::waits_for_an_answer(timeline, finding) => {
            Some(Standstill::OnDeadConnections)
        }
        Kind::Deadlock | Kind::Starved
            if lost_wakeup::waits_on_dead_connections(timeline, finding) =>
        {
            Some(Standstill::OnDeadConnections)
        }
        Kind::Deadlock | Kind::Starved if lost_wakeup::missed_release(timeline, finding) => {
            Some(Standstill::NotNotified)
        }
        _ => of_stuck(timeline, finding),
    }
}

pub(super) fn kept_by_count(
    timeline: &Timeline<'_>,
    finding: &Finding,
) -> Option<(Vec<Node>, Node)> {
    let standing = values_for_most_of(timeline, Period::of_finding(finding));
    let lowered: Vec<(Node, Node)> = standing
        .filter(|span| timeline.is_lowered(span))
        .filter_map(|span| Some((span.node, span.by?)))
        .collect();
    let (_, owner) = *lowered.first()?;
    let own = lowered.iter().filter(|(_, by)| *by == owner);
    let servers: BTreeSet<Node> = own.map(|(server, _)| *server).collect();
    Some((servers.into_iter().collect(), owner))
}

/// Returns the lock that remained while no process acquired it, from the first server that had it;
/// `None` for a queue and for several masters, where no single value decides who holds the lock.
pub(crate) fn standing<'t, 'h>(
    timeline: &'t Timeline<'h>,
    finding: &Finding,
) -> Option<&'t KeySpan<'h>> {
    let header = &timeline.history.header;
    if header.has_queue() || header.quorum > 1 {
        return None;
    }
    remaining_values(timeline, Period::of_finding(finding)).min_by_key(|span| span.from)
}

/// Returns the values, in order, with which a process set the lock again after its release.
pub(crate) fn set_again<'t, 'h>(
    timeline: &'t Timeline<'h>,
    finding: &Finding,
) -> Option<Vec<&'t KeySpan<'h>>> {
    let again = owner::written_again(timeline, Period::of_finding(finding));
    let again = again.or_else(|| Some(vec![standing(timeline, finding)?]))?;
    owner::is_set_again(timeline, again[0]).then_some(again)
}

/// Returns the process whose release of the remaining lock is unconfirmed, when the process sent
/// the release, and when the lock was removed; the last value is `None` if the lock remained.
pub(super) fn unconfirmed_release(
    timeline: &Timeline<'_>,
    finding: &Finding,
) -> Option<(Node, SimTime, Option<SimTime>)> {
    let period = Period::of_finding(finding);
    let lock = match timeline.history.header.lives_with_session {
        true => session::first_node(timeline, period)?,
        false => standing(timeline, finding)?.clone(),
    };
    let mut owners = timeline.acquisitions.iter().rev().filter(|one| one.owner.is_some());
    let owner = owners.find(|one| one.owner == lock.value || timeline.is_lock_of(&lock, one))?;
    let sent = owner::last_unconfirmed_release(timeline, owner)?;
    let removed = lock.to.map(|(to, _)| to.time).filter(|to| *to < period.until);
    Some((owner.process, sent.time, removed))
}

pub(super) fn has_lost_request(timeline: &Timeline<'_>, finding: &Finding) -> Option<(Node, Node)> {
    values_for_most_of(timeline, Period::of_finding(finding)).find_map(|span| {
        let by = span.by?;
        let mut acquiring = timeline.acquisitions.iter().rev();
        let until = acquiring.find(|one| one.process == by && one.invoked < span.from)?.completed;
        let mut lost = timeline.faults.iter().filter(|fault| {
            fault.kind == FaultKind::LostRequest
                && fault.names(by.machine())
                && fault.names(span.node)
        });
        let is_then = lost.any(|fault| {
            span.from < fault.from && until.is_none_or(|completed| fault.from < completed)
        });
        is_then.then_some((span.node, by))
    })
}

/// Returns the server and owner of a lock that remained for most of the period without an expiry,
/// if the owner does not know the outcome of its acquire and some lock of the run has an expiry.
pub(super) fn has_no_expiry(timeline: &Timeline<'_>, finding: &Finding) -> Option<(Node, Node)> {
    if timeline.keys.iter().all(|span| span.runs_out.is_none()) {
        return None;
    }
    values_for_most_of(timeline, Period::of_finding(finding)).find_map(|span| {
        let by = span.by.filter(|_| span.runs_out.is_none())?;
        let mut acquiring = timeline.acquisitions.iter().rev();
        let owner = acquiring.find(|one| one.process == by && one.invoked < span.from)?;
        (owner.outcome == Outcome::Unknown).then_some((span.node, by))
    })
}

pub(super) fn lacks_expiry(timeline: &Timeline<'_>, finding: &Finding) -> bool {
    let mut remaining = remaining_values(timeline, Period::of_finding(finding));
    timeline.keys.iter().any(|span| span.runs_out.is_some())
        && remaining.any(|span| span.runs_out.is_none())
}

fn of_stuck(timeline: &Timeline<'_>, finding: &Finding) -> Option<Standstill> {
    let span = Period::of_finding(finding);
    let has_sessions = timeline.history.header.lives_with_session;
    let standing = match has_sessions {
        true => session::first_node(timeline, span),
        false => remaining_values(timeline, span).find(|span| span.by.is_some()).cloned(),
    };
    match standing.as_ref() {
        _ if votes_are_split(timeline, span) => {
            of_standing_votes(timeline, span).or(Some(Standstill::VotesSplit))
        }
        _ if lost_wakeup::waits_on_dead_connections(timeline, finding) => {
            Some(Standstill::OnDeadConnections)
        }
        Some(standing) if has_sessions => match session::of_queue(timeline, standing, span.until) {
            Some(FirstInQueue::CreatorWaits) => Some(Standstill::NotNotified),
            Some(FirstInQueue::UnknownToCreator) => Some(of_unknown(timeline, standing)),
            None => of_holder(timeline, standing, span.until),
        },
        None if has_sessions => lost_wakeup::missed_release(timeline, finding)
            .then_some(Standstill::NotNotified)
            .or_else(|| of_impatient(timeline, finding)),
        // The server will remove the key at the end of its lease, but will not wake a process.
        Some(standing) if finding.kind == Kind::Deadlock && standing.runs_out.is_some() => {
            Some(Standstill::NotNotified)
        }
        Some(standing) => {
            let renews = of_absent(timeline, span).filter(|is| *is == Standstill::OwnerRenews);
            renews.or_else(|| of_owner(timeline, standing, span.until))
        }
        // Some servers do not report their locks, so a lock may exist.
        None if timeline.history.header.locks_unseen => None,
        None => of_absent(timeline, span)
            .or_else(|| owner::renewed_copy(timeline, span))
            .or_else(|| unanswered_release(timeline, span))
            .or_else(|| lost_release(timeline, span))
            .or_else(|| owner::of_copy(timeline, span))
            .or_else(|| {
                lost_wakeup::missed_release(timeline, finding).then_some(Standstill::NotNotified)
            })
            .or_else(|| of_owner(timeline, values_for_most_of(timeline, span).next()?, span.until))
            .or_else(|| waiter_died(timeline, span).then_some(Standstill::WaiterDied))
            .or_else(|| clocks_differ(timeline, finding).then_some(Standstill::ClocksDiffer))
            .or_else(|| of_impatient(timeline, finding)),
    }
}

fn of_unknown(timeline: &Timeline<'_>, first: &KeySpan<'_>) -> Standstill {
    let creator = first.value.and_then(|node| creator(timeline.history, node));
    match given_up::has_left_node(timeline, creator, first) {
        true => Standstill::CallGivenUp,
        false => Standstill::UnknownNode,
    }
}

fn of_impatient(timeline: &Timeline<'_>, finding: &Finding) -> Option<Standstill> {
    let until = finding.at + finding.duration;
    let all = given_up::all_gave_up(timeline, &finding.processes, until);
    all.then_some(Standstill::CallGivenUp)
}
