use super::Standstill;
use super::spans::{remaining_values, values_for_most_of};
use crate::explain::evidence::period::Period;
use crate::explain::evidence::untrue_answer::{self, Obstacle};
use crate::explain::evidence::{given_up, lease, release};
use crate::judge::timeline::{
    Acquisition, FaultSpan, KeyEnd, KeySpan, Moment, Outcome, Section, SectionEnd, Timeline,
    is_one_owner,
};
use crate::record::history::{Change, What};
use fencepost_faults::{Impact, Node, SimTime};
use std::collections::BTreeMap;

/// Minimum number of extensions that count as renewals. Fewer extensions may be retries.
const RENEWALS_MIN: usize = 3;

pub(super) fn of_holder(
    timeline: &Timeline<'_>,
    node: &KeySpan<'_>,
    until: SimTime,
) -> Option<Standstill> {
    let mut holders = timeline.acquisitions.iter().rev();
    let holder = holders.find(|one| one.owner.is_some() && one.owner == node.value)?;
    let died =
        holder.completed.is_some_and(|since| died_between(timeline, holder.process, since, until));
    if died { Some(Standstill::OwnerDied) } else { lost_by(timeline, holder) }
}

pub(super) fn of_owner(
    timeline: &Timeline<'_>,
    span: &KeySpan<'_>,
    until: SimTime,
) -> Option<Standstill> {
    let mut acquisitions = timeline.acquisitions.iter().rev();
    let owner = acquisitions.find(|one| Some(one.process) == span.by && one.invoked < span.from)?;
    if died_between(timeline, owner.process, owner.invoked, until) {
        return Some(Standstill::OwnerDied);
    }
    match owner.outcome {
        _ if given_up::acquire(timeline, owner) => Some(Standstill::CallGivenUp),
        Outcome::Refused if untrue_answer::is_unfounded(timeline, owner) => {
            Some(Standstill::OwnerMisinformed)
        }
        // No fault delayed the answer, but the process did not wait for it.
        Outcome::Unknown if untrue_answer::is_unfounded(timeline, owner) => {
            Some(Standstill::OwnerUnaware(Obstacle::Delay))
        }
        Outcome::Unknown | Outcome::Refused => {
            let until = owner.completed.map_or(until, |to| to.time);
            let meanwhile = Period { from: owner.invoked.time, until };
            Some(unaware(timeline, owner.process, span.node, meanwhile))
        }
        Outcome::Granted if is_unknown_to_owner(owner, span) => {
            let meanwhile = Period { from: owner.invoked.time, until: span.from.time };
            let obstacle =
                untrue_answer::obstacle(timeline, owner.process, &[span.node], meanwhile);
            obstacle.map(Standstill::OwnerUnaware)
        }
        Outcome::Granted => lost_by(timeline, owner).or_else(|| left_behind(timeline, owner, span)),
        Outcome::Open => None,
    }
}

pub(super) fn unaware(
    timeline: &Timeline<'_>,
    process: Node,
    server: Node,
    meanwhile: Period,
) -> Standstill {
    let at = |servers: &[Node]| untrue_answer::obstacle(timeline, process, servers, meanwhile);
    let elsewhere = || {
        let named = timeline.faults.iter().flat_map(|fault| fault.nodes).copied();
        let servers: Vec<Node> = named.filter(|node| node.is_server()).collect();
        at(&servers).filter(|_| timeline.history.header.quorum > 1)
    };
    let obstacle = at(&[server]).or_else(elsewhere);
    Standstill::OwnerUnaware(obstacle.unwrap_or(Obstacle::Loss))
}

fn is_unknown_to_owner(owner: &Acquisition<'_>, span: &KeySpan<'_>) -> bool {
    let is_own = span.value.zip(owner.owner).is_some_and(|(value, own)| is_one_owner(value, own));
    !is_own && owner.completed.is_some_and(|told| span.from < told)
}

/// Returns why the lock outlived its release.
fn left_behind(
    timeline: &Timeline<'_>,
    owner: &Acquisition<'_>,
    span: &KeySpan<'_>,
) -> Option<Standstill> {
    let section = timeline.section_of_call(owner.operation)?;
    let left = section.to.filter(|_| section.ended_by == SectionEnd::Release)?;
    let is_given_up = given_up::left_count_too_high(timeline, span);
    let is_lowered = timeline.is_lowered(span);
    let is_raised = || untrue_answer::has_raised_unanswered(timeline, owner.process, span);
    match span.from < left {
        true if is_lowered && is_given_up => Some(Standstill::CallGivenUp),
        true if is_lowered => Some(Standstill::KeptByCount),
        true if timeline.history.header.quorum > 1 => Some(Standstill::ReleaseUnanswered),
        true => span.runs_out.is_none().then_some(Standstill::OwnerReleased),
        false if is_given_up => Some(Standstill::CallGivenUp),
        false if is_lowered && is_raised() => Some(Standstill::KeptByCount),
        // No message was late, so the process itself set the lock again.
        false if is_set_again(timeline, span) => Some(Standstill::OwnerRenews),
        false => Some(Standstill::OwnerUnaware(Obstacle::Loss)),
    }
}

/// Returns whether the process set the lock again after its release. Returns `false` if a fault may
/// have delayed a command that the process sent before the release.
pub(super) fn is_set_again(timeline: &Timeline<'_>, span: &KeySpan<'_>) -> bool {
    let mut acquisitions = timeline.acquisitions.iter().rev();
    let owner = acquisitions.find(|one| Some(one.process) == span.by && one.invoked < span.from);
    let left = owner.and_then(|owner| {
        let section = timeline.section_of_call(owner.operation)?;
        section.to.filter(|_| section.ended_by == SectionEnd::Release)
    });
    let delays = |fault: &FaultSpan<'_>, left: Moment| {
        matches!(fault.kind.impact(), Impact::HoldsUpMessages | Impact::Freezes)
            && (fault.names(span.node) || span.by.is_some_and(|by| fault.names(by.machine())))
            && fault.touches(left.time, span.from.time)
    };
    left.is_some_and(|left| {
        left < span.from
            && !timeline.is_lowered(span)
            && !timeline.faults.iter().any(|fault| delays(fault, left))
    })
}

pub(super) fn of_absent(timeline: &Timeline<'_>, period: Period) -> Option<Standstill> {
    if written_again(timeline, period).is_some() {
        return Some(Standstill::OwnerRenews);
    }
    let span = values_for_most_of(timeline, period).next()?;
    let of = span.by?;
    if is_renewed(timeline, span, period) && !is_inside(timeline, of, period) {
        return Some(Standstill::OwnerRenews);
    }
    died_between(timeline, of, span.from, period.until).then_some(Standstill::OwnerDied)
}

/// Returns the equal values with which a process outside its critical section repeatedly replaced
/// its own lock, if these values kept the lock at a server for most of the period.
pub(super) fn written_again<'t, 'h>(
    timeline: &'t Timeline<'h>,
    period: Period,
) -> Option<Vec<&'t KeySpan<'h>>> {
    let mut chains: Vec<Vec<&KeySpan<'_>>> = Vec::new();
    for span in timeline.keys.iter().filter(|span| span.by.is_some()) {
        let follows = |chain: &&mut Vec<&KeySpan<'_>>| {
            chain.last().is_some_and(|last| {
                (last.node, last.by, last.value) == (span.node, span.by, span.value)
                    && last.to == Some((span.from, KeyEnd::Replaced))
            })
        };
        match chains.iter_mut().find(follows) {
            Some(chain) => chain.push(span),
            None => chains.push(vec![span]),
        }
    }
    let lasts = |chain: &[&KeySpan<'_>]| {
        let (from, until) = (chain[0].from.time, timeline.existed_until(chain[chain.len() - 1]));
        period.is_mostly(until.min(period.until).since(from.max(period.from)))
    };
    let chain = chains.into_iter().find(|chain| chain.len() > RENEWALS_MIN && lasts(chain))?;
    let by = chain[0].by?;
    (!is_inside(timeline, by, period)).then_some(chain)
}

fn is_inside(timeline: &Timeline<'_>, process: Node, Period { from, until }: Period) -> bool {
    let is_then = |section: &Section| {
        section.process.machine() == process.machine()
            && section.from.time < until
            && section.to.is_none_or(|to| from < to.time)
    };
    timeline.sections.iter().any(is_then)
}

/// Finds a remaining copy of a lock that exists only because processes extend it.
pub(super) fn renewed_copy(timeline: &Timeline<'_>, period: Period) -> Option<Standstill> {
    let mut copies = remaining_values(timeline, period);
    let is_renewed = |copy: &KeySpan<'_>| {
        copy.by.is_none() && copy.runs_out.is_some() && is_renewed(timeline, copy, period)
    };
    copies.any(is_renewed).then_some(Standstill::OwnerRenews)
}

/// Returns whether one process extended the lease often enough to count as renewing it. A time to
/// live set with the value, by a grant or a partial release, is not an extension.
fn is_renewed(timeline: &Timeline<'_>, span: &KeySpan<'_>, Period { from, until }: Period) -> bool {
    let mut renewals: BTreeMap<Node, usize> = BTreeMap::new();
    for set in span.set.iter().filter(|set| span.from.time < set.time) {
        if let Some(by) = timeline.asked_by(*set).filter(|_| from < set.time && set.time <= until) {
            *renewals.entry(by.machine()).or_default() += 1;
        }
    }
    let most = renewals.values().max().copied().unwrap_or(0);
    most >= RENEWALS_MIN || most > 0 && lease::renews_by_itself(timeline)
}

fn died_between(timeline: &Timeline<'_>, process: Node, from: Moment, until: SimTime) -> bool {
    let later = timeline.history.events[from.index..].iter();
    let mut meanwhile = later.take_while(|event| event.time_us <= until);
    meanwhile.any(|event| event.node == process.machine() && matches!(event.what, What::Crashed))
}

fn end_of(timeline: &Timeline<'_>) -> Moment {
    Moment { time: timeline.end, index: timeline.history.events.len() }
}

pub(super) fn unanswered_release(timeline: &Timeline<'_>, span: Period) -> Option<Standstill> {
    let mut standing = remaining_values(timeline, span);
    let released = |span: &KeySpan<'_>| {
        let granted = span.value.and_then(|value| timeline.last_granted(value, span.from));
        let mut granting = timeline
            .keys
            .iter()
            .filter(|one| granted.is_some_and(|(_, moment)| moment == one.from));
        // A removal after the promotion cannot have been replicated.
        let promoted = timeline.roles.promoted(span.node, end_of(timeline));
        let is_late = |at: Moment| promoted.is_some_and(|promoted| promoted < at);
        let ended = |end: (Moment, KeyEnd)| match end {
            (at, _) if is_late(at) => false,
            (_, KeyEnd::Changed { change: Change::Removed, by: Some(_), .. }) => true,
            // If the copy has no expiry, the expiry was set only at the old primary.
            (_, KeyEnd::Changed { change: Change::Expired, .. }) => span.runs_out.is_none(),
            _ => false,
        };
        granting.any(|one| one.node != span.node && one.to.is_some_and(ended))
    };
    standing.any(released).then_some(Standstill::ReleaseNotCopied)
}

pub(super) fn lost_release(timeline: &Timeline<'_>, span: Period) -> Option<Standstill> {
    let mut owners = remaining_values(timeline, span).filter_map(|span| {
        timeline
            .acquisitions
            .iter()
            .rev()
            .find(|one| one.outcome == Outcome::Granted && timeline.is_lock_of(span, one))
    });
    owners.find_map(|owner| {
        let granted = owner.completed?;
        let died = died_between(timeline, owner.process, granted, span.until);
        died.then_some(Standstill::OwnerDied).or_else(|| lost_by(timeline, owner))
    })
}

/// Explains a lock that remains only as a copy at a promoted server by the grant that was copied.
/// If a process removed the granted lock at the old primary, the owner is not the reason.
pub(super) fn of_copy(timeline: &Timeline<'_>, period: Period) -> Option<Standstill> {
    let is_copy = |span: &&KeySpan<'_>| {
        span.by.is_none() && timeline.roles.promoted(span.node, end_of(timeline)).is_some()
    };
    let is_removed = |span: &&KeySpan<'_>| {
        let how = span.to.map(|(_, how)| how);
        matches!(how, Some(KeyEnd::Changed { change: Change::Removed, by: Some(_), .. }))
    };
    let grants = remaining_values(timeline, period).filter(is_copy).filter_map(|copy| {
        let granted = copy.granted.or_else(|| timeline.last_granted(copy.value?, copy.from));
        let (_, at) = granted?;
        timeline.keys.iter().find(|span| span.from == at)
    });
    let grants = grants.filter(|span| !is_removed(span));
    grants.filter_map(|span| of_owner(timeline, span, period.until)).next()
}

pub(super) fn lost_by(timeline: &Timeline<'_>, owner: &Acquisition<'_>) -> Option<Standstill> {
    let sent = last_unconfirmed_release(timeline, owner)?;
    Some(match given_up::call(timeline, sent) {
        true => Standstill::CallGivenUp,
        false => Standstill::ReleaseUnanswered,
    })
}

pub(super) fn last_unconfirmed_release(
    timeline: &Timeline<'_>,
    owner: &Acquisition<'_>,
) -> Option<Moment> {
    let granted = owner.completed?;
    let end = end_of(timeline);
    // Releases before the process's next grant concern this lock.
    let next = timeline.acquisitions.iter().find(|one| {
        one.process == owner.process && granted < one.invoked && one.outcome == Outcome::Granted
    });
    let until = next.map_or(end, |next| next.invoked);
    release::unknown(timeline, owner.process, until).filter(|sent| granted < *sent)
}
