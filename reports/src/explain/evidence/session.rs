//! Finds out how a lock that belongs to a session or a connection was lost.

use super::early_loss::two_primaries;
use super::lease::GRANULARITY;
use super::period::Period;
use crate::judge::finding::Clash;
use crate::judge::timeline::{
    Acquisition, Grant, KeyEnd, KeySpan, Moment, Timeline, creator, of_key,
};
use crate::record::history::{Change, Keeping, What};
use fencepost_faults::{Impact, Micros, Node, SimTime};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SessionLoss {
    /// A process entered although its key was never first in the queue of any server. It had waited
    /// long enough to lose its lease.
    WasNeverFirst,
    /// A process entered although its key was never first, before its lease could have ended.
    EnteredInQueue,
    GrantedElsewhere,
    TwoPrimaries,
    /// The lock ended with its connection, or with the server that kept it.
    WithConnection,
    ToldByStaleServer,
    WithSession,
}

pub(super) fn of_clash(timeline: &Timeline<'_>, clash: Clash) -> Option<SessionLoss> {
    if timeline.history.header.kept_as == Some(Keeping::MemberLease) {
        return departed(timeline, clash).then_some(SessionLoss::WithSession);
    }
    if !timeline.history.header.has_no_ttl() {
        return None;
    }
    if timeline.history.header.kept_as == Some(Keeping::Lease)
        && let Some(loss) = was_never_first(timeline, clash)
    {
        return Some(loss);
    }
    let holder = &timeline.acquisitions[clash.earlier];
    if let Some((held, taken)) = granted_elsewhere(timeline, clash) {
        let is_split = two_primaries(timeline, held, (taken.node, taken.moment));
        return Some(match is_split {
            true => SessionLoss::TwoPrimaries,
            false => SessionLoss::GrantedElsewhere,
        });
    }
    let (gone, how) = timeline.gone(holder)?;
    if timeline.history.header.kept_as == Some(Keeping::Connection) {
        return ended_without_request(how).then_some(SessionLoss::WithConnection);
    }
    let told = holder.completed.filter(|told| gone < *told);
    let is_expiry = matches!(how, KeyEnd::Changed { change: Change::Expired, .. });
    match told {
        Some(told) if had_lock_at(timeline, holder, told) => Some(SessionLoss::ToldByStaleServer),
        _ if is_expiry => Some(SessionLoss::WithSession),
        _ => None,
    }
}

fn departed(timeline: &Timeline<'_>, clash: Clash) -> bool {
    let holder = &timeline.acquisitions[clash.earlier];
    timeline.keys_of(holder).any(|span| {
        let Some((gone, KeyEnd::Changed { change: Change::Expired, .. })) = span.to else {
            return false;
        };
        let is_bent = timeline.faults.iter().any(|fault| {
            fault.does(Impact::BendsClock, span.node) && fault.touches(span.from.time, gone.time)
        });
        let is_early = span.runs_out.is_some_and(|end| gone.time + GRANULARITY < end);
        is_early && !is_bent
    })
}

fn granted_elsewhere<'t>(
    timeline: &'t Timeline<'_>,
    clash: Clash,
) -> Option<(&'t Grant, &'t Grant)> {
    let grant = |index: usize| timeline.acquisitions[index].grant.as_ref();
    let (held, taken) = grant(clash.earlier).zip(grant(clash.later))?;
    let is_of_connection = timeline.history.header.kept_as == Some(Keeping::Connection);
    (is_of_connection && held.node != taken.node).then_some((held, taken))
}

/// Returns how a process entered although its key was never first. Its lease may end in less than a
/// ttl: the server's clock may be fast, or the session older than the acquire.
fn was_never_first(timeline: &Timeline<'_>, clash: Clash) -> Option<SessionLoss> {
    let both = [clash.earlier, clash.later].map(|index| &timeline.acquisitions[index]);
    let waited = |one: &&Acquisition<'_>| {
        let told = one.completed.map_or(timeline.end, |told| told.time);
        Micros(timeline.history.header.ttl_us.0 / 2) <= told.since(one.invoked.time)
    };
    let never_first: Vec<_> = both.into_iter().filter(|one| one.grant.is_none()).collect();
    match never_first.iter().any(waited) {
        true => Some(SessionLoss::WasNeverFirst),
        false => (!never_first.is_empty()).then_some(SessionLoss::EnteredInQueue),
    }
}

fn ended_without_request(how: KeyEnd) -> bool {
    let KeyEnd::Changed { change, by, .. } = how else { return false };
    change == Change::Forgotten || change == Change::Removed && by.is_none()
}

fn had_lock_at(timeline: &Timeline<'_>, holder: &Acquisition<'_>, at: Moment) -> bool {
    timeline
        .keys_of(holder)
        .filter(|span| span.by.map(Node::machine) == Some(holder.process.machine()))
        .any(|span| span.from < at && span.to.is_none_or(|(to, _)| at < to))
}

/// Returns the node that was first for most of the period in the queue of the lock or, for a
/// semaphore, in the queue for permits.
pub(super) fn first_node<'h>(timeline: &Timeline<'h>, period: Period) -> Option<KeySpan<'h>> {
    let Period { from, until } = period;
    let stood = |span: &&KeySpan<'_>| {
        let to = span.to.map_or(timeline.end, |(to, _)| to.time).min(until);
        period.is_mostly(to.since(span.from.time.max(from)))
    };
    let first = timeline.keys.iter().find(stood).cloned();
    first.or_else(|| {
        let order =
            of_key(timeline.history, &format!("{}/locks", timeline.history.header.resource));
        order.iter().find(stood).cloned()
    })
}

pub(super) fn has_second_node(
    timeline: &Timeline<'_>,
    process: Node,
    Period { from, until }: Period,
) -> bool {
    let events = timeline.history.events.iter().skip_while(|event| event.time_us < from);
    let meanwhile = events.take_while(|event| event.time_us <= until);
    let mut seconds = meanwhile.filter_map(|event| match &event.what {
        What::Server { key, value: Some(value), .. } if key.ends_with("/twice") => Some(value),
        _ => None,
    });
    seconds.any(|node| creator(timeline.history, node) == Some(process))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FirstInQueue {
    CreatorWaits,
    /// The node's creator does not wait with this node.
    UnknownToCreator,
}

/// Returns whether the creator of the queue's first node waits with this node. Returns `None` if a
/// process got the lock with the node, or if the history does not show the answer.
pub(super) fn of_queue(
    timeline: &Timeline<'_>,
    first: &KeySpan<'_>,
    until: SimTime,
) -> Option<FirstInQueue> {
    let is_known = |one: &Acquisition<'_>| one.owner.is_some() && one.owner == first.value;
    let by = first.value.and_then(|node| creator(timeline.history, node));
    if died_since(timeline, by, first.from.time, until)
        || timeline.acquisitions.iter().any(is_known)
    {
        return None;
    }
    let mut waiting = timeline.acquisitions.iter().filter(|one| {
        one.invoked < first.from && one.completed.is_none_or(|completed| until <= completed.time)
    });
    match by {
        Some(by) => {
            let waits_with_it = waiting.any(|one| one.process == by)
                && !has_second_node(timeline, by, Period { from: SimTime::ZERO, until });
            Some(if waits_with_it {
                FirstInQueue::CreatorWaits
            } else {
                FirstInQueue::UnknownToCreator
            })
        }
        // The node may belong to any process that has waited since before the node became first.
        None => waiting.next().is_none().then_some(FirstInQueue::UnknownToCreator),
    }
}

/// Returns whether the session of a crashed process may have kept the node.
fn died_since(timeline: &Timeline<'_>, by: Option<Node>, from: SimTime, until: SimTime) -> bool {
    let session = timeline.history.header.ttl_us;
    timeline.history.events.iter().any(|event| {
        let is_whose = match by {
            Some(by) => event.node == by.machine() && from <= event.time_us,
            None => event.node.is_process() && until < event.time_us + session + session,
        };
        is_whose && event.time_us <= until && matches!(event.what, What::Crashed)
    })
}
