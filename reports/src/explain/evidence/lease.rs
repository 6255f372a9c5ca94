use super::takeover;
use super::value_time::{begins_with_unix_time, clock_read, has_unix_millis};
use crate::judge::checker::wrong_answer::never_expires;
use crate::judge::timeline::{Acquisition, KeyEnd, KeySpan, Moment, Timeline, has_count};
use crate::record::history::{Action, Change, Keeping, What};
use fencepost_faults::{Impact, Micros, Node, SimTime};
use std::collections::{BTreeMap, BTreeSet};

/// Tolerance for the ends of leases. Redis counts leases in whole milliseconds.
pub(crate) const GRANULARITY: Micros = Micros::from_millis(2);
/// Largest difference between the ttl and a row's lease that counts as ordinary latency.
const TRANSIT_MIN: Micros = Micros::from_millis(20);
/// Longest time by which a server that counts whole seconds may end a lease early.
pub(crate) const COARSE: Micros = Micros::from_secs(1);
/// A recorded lease counts as the requested lease if the difference is at most this long. A server
/// that receives the end of a lease records a lease that is shorter by the message's latency.
pub(crate) const ROUNDING: Micros = Micros::from_millis(20);
/// Assumed maximum number of renewals during one ttl. An extension less than `ttl / RENEWALS_MAX`
/// after the previous change is not a renewal.
const RENEWALS_MAX: u64 = 20;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    pub(crate) from: SimTime,
    pub(crate) lasts: Micros,
}

impl Lease {
    pub(crate) fn ends(self) -> SimTime {
        self.from + self.lasts
    }
}

pub(crate) fn last_lease(
    timeline: &Timeline<'_>,
    holder: &Acquisition<'_>,
    node: Node,
    before: Moment,
) -> Lease {
    let replicated = timeline.history.header.quorum <= 1;
    let spans = timeline.keys.iter().filter(|span| replicated || span.node == node);
    let own = spans.filter(|span| timeline.is_lock_of(span, holder));
    let was_lost = |span: &KeySpan<'_>| {
        let lost = lost_at(timeline, holder, span.node, before);
        let lost = lost.and_then(|lost| lost.to).is_some_and(|(to, _)| to <= span.from);
        !is_extension(timeline, holder, span)
            && (lost || replicated && expired_before(timeline, holder, span.from))
    };
    let until_lost = own.filter(|span| !was_lost(span));
    let machine = Some(holder.process.machine());
    let by_itself = |set: &&Moment| timeline.asked_by(**set).map(Node::machine) == machine;
    let set = until_lost.flat_map(|span| &span.set).filter(|set| **set < before).filter(by_itself);
    let set = set.max().copied().or(holder.grant.as_ref().map(|grant| grant.moment));
    let from = set.unwrap_or(holder.invoked).time;
    if let Some(from) = set.and_then(|set| begun_before_pause(timeline, holder, set)) {
        return Lease { from, lasts: timeline.history.header.ttl_us };
    }
    if let Some(from) = set.and_then(|set| clock_read(timeline, set)) {
        return Lease { from, lasts: timeline.history.header.ttl_us };
    }
    let asked = set.and_then(|set| short_by_transit(timeline, holder, set));
    let asked = asked.or_else(|| set.and_then(|set| timeline.lease_asked(set)));
    Lease { from, lasts: asked.unwrap_or(timeline.history.header.ttl_us) }
}

/// If the holder computed the end of its lease before a pause in the acquire, returns the true
/// start of the lease. The recorded lease is shorter, because part of the lease had passed by then.
fn begun_before_pause(
    timeline: &Timeline<'_>,
    holder: &Acquisition<'_>,
    set: Moment,
) -> Option<SimTime> {
    let is_server = matches!(timeline.history.events[set.index].node, Node::Server(_));
    let left = timeline.lease_recorded(set).filter(|_| is_server)?;
    let missing = timeline.history.header.ttl_us - left;
    let pauses = timeline.faults.iter().filter(|fault| {
        fault.does(Impact::Freezes, holder.process) && holder.invoked.time <= fault.from.time
    });
    let pause = pauses
        .filter(|fault| fault.to.is_some_and(|to| to < set))
        .find(|fault| missing <= fault.within(fault.from.time, set.time) + COARSE)?;
    (COARSE < missing).then(|| match left {
        Micros::ZERO => pause.from.time,
        _ => SimTime(set.time.0.saturating_sub(missing.0)),
    })
}

/// Returns whether the recorded lease is the difference between a client's clock and the server's
/// clock, one of which may be wrong.
pub(crate) fn is_measured_by_wrong_clocks(timeline: &Timeline<'_>, set: Moment) -> bool {
    timeline.history.header.kept_as == Some(Keeping::RowByClients)
        && timeline
            .faults
            .iter()
            .any(|fault| fault.kind.impact() == Impact::BendsClock && fault.from < set)
}

/// Returns a row's recorded lease, if the request's duration explains why it is below the ttl.
fn short_by_transit(
    timeline: &Timeline<'_>,
    holder: &Acquisition<'_>,
    set: Moment,
) -> Option<Micros> {
    let header = &timeline.history.header;
    let is_exact = header.has_rows() && !is_measured_by_wrong_clocks(timeline, set);
    let left = timeline.lease_recorded(set).filter(|_| is_exact)?;
    let missing = header.ttl_us - left;
    let transit = set.time.since(holder.invoked.time);
    let is_short = TRANSIT_MIN < missing && missing < left;
    (is_short && missing <= transit + GRANULARITY).then_some(left)
}

/// Returns whether the holder set its lock outside an acquire, such as by extending a lost lock.
fn is_extension(timeline: &Timeline<'_>, holder: &Acquisition<'_>, span: &KeySpan<'_>) -> bool {
    let machine = holder.process.machine();
    let mut own = timeline.acquisitions.iter().filter(|one| one.process.machine() == machine);
    let is_own = span.by.map(Node::machine) == Some(machine);
    is_own
        && !timeline.is_lowered(span)
        && holder.completed.is_some_and(|entered| entered < span.from)
        && !own.any(|one| one.is_open_at(span.from))
}

fn expired_before(timeline: &Timeline<'_>, holder: &Acquisition<'_>, at: Moment) -> bool {
    let Some(section) = timeline.section_of_call(holder.operation) else { return false };
    timeline.keys_of(holder).any(|span| match span.to {
        Some((to, KeyEnd::Changed { change: Change::Expired, primary: true, .. })) => {
            to <= at && section.covers(to)
        }
        _ => false,
    })
}

pub(crate) fn is_taken_again(
    timeline: &Timeline<'_>,
    holder: &Acquisition<'_>,
    node: Node,
    removed: Moment,
) -> bool {
    let by = timeline.asked_by(removed).map(Node::machine);
    let later = timeline.keys.iter().filter(|span| span.node == node && removed < span.from);
    let next = later.min_by_key(|span| span.from);
    by == Some(holder.process.machine())
        && next.is_some_and(|next| timeline.is_lock_of(next, holder))
}

pub(super) fn waited_to_nest(
    timeline: &Timeline<'_>,
    holder: &Acquisition<'_>,
    from: Moment,
) -> Micros {
    let section = timeline.section_of_call(holder.operation);
    let Some(until) = section.map(|section| section.ends(timeline.end)) else {
        return Micros::ZERO;
    };
    let own = timeline.acquisitions.iter().filter(|one| {
        one.process == holder.process && holder.completed.is_some_and(|at| at < one.invoked)
    });
    own.fold(Micros::ZERO, |sum, one| {
        let began = one.invoked.time.max(from.time);
        let ended = one.completed.map_or(until, |at| at.time.min(until));
        sum + ended.since(began)
    })
}

/// Returns the value of the holder's lock that the server lost during the critical section. If the
/// holder set the lock again by an extension or a nested acquisition, and the server lost that
/// value too, returns the later value.
pub(crate) fn lost_at<'t, 'h>(
    timeline: &'t Timeline<'h>,
    holder: &Acquisition<'h>,
    node: Node,
    before: Moment,
) -> Option<&'t KeySpan<'h>> {
    let own = own_spans(timeline, holder, node, before);
    let goes_on = |to: Moment| {
        own.iter().any(|next| next.from == to) || is_taken_again(timeline, holder, node, to)
    };
    let section = timeline.section_of_call(holder.operation)?;
    let lost = |span: &&&KeySpan<'h>| {
        let was_told = removed_by_replication(span);
        let lost_then = |to| to < before && section.covers(to) && !goes_on(to);
        !was_told && span.to.is_some_and(|(to, _)| lost_then(to))
    };
    let mut all = own.iter().filter(lost);
    let first = all.next().copied();
    let is_later = |span: &&&KeySpan<'h>| {
        is_extension(timeline, holder, span) || is_nested(timeline, holder, span)
    };
    all.rfind(is_later).copied().or(first)
}

/// Returns whether a nested acquisition of the holder wrote the value. A value with a count does
/// not qualify, because its count starts at one again, so that the inner release removes the lock.
fn is_nested(timeline: &Timeline<'_>, holder: &Acquisition<'_>, span: &KeySpan<'_>) -> bool {
    let Some(entered) = holder.completed else { return false };
    let mut own = timeline.acquisitions.iter().filter(|one| one.process == holder.process);
    span.by == Some(holder.process)
        && span.value.is_some_and(|value| !has_count(value))
        && own.any(|one| entered < one.invoked && one.is_open_at(span.from))
}

/// Finds the last value that an acquiring process wrote over the holder's value at `at` without
/// getting the lock, and when and how it ended by `before`: removed by another process, lost by the
/// server, or replaced by a process that got the lock.
pub(crate) fn overwritten_until<'t, 'h>(
    timeline: &'t Timeline<'h>,
    holder: &Acquisition<'h>,
    at: Moment,
    before: Moment,
) -> Option<(&'t KeySpan<'h>, Moment, KeyEnd)> {
    let header = &timeline.history.header;
    if header.quorum > 1 || header.kept_as.is_some() {
        return None;
    }
    let next = timeline.keys.iter().find(|span| span.from == at)?;
    let by = next.by.map(Node::machine).filter(|by| *by != holder.process.machine())?;
    let is_granted = |at: Moment| {
        let granted = |one: &Acquisition<'_>| {
            one.grant.as_ref().is_some_and(|grant| grant.servers.contains(&(next.node, at)))
        };
        timeline.acquisitions.iter().any(granted)
    };
    let is_acquiring = |one: &Acquisition<'_>| one.process.machine() == by && one.is_open_at(at);
    if is_granted(at) || !timeline.acquisitions.iter().any(is_acquiring) {
        return None;
    }
    match next.to? {
        (to, _) if before < to => None,
        (to, KeyEnd::Replaced) if is_granted(to) => Some((next, to, KeyEnd::Replaced)),
        (to, _) if before == to => None,
        (to, KeyEnd::Replaced) => overwritten_until(timeline, holder, to, before),
        (to, how @ KeyEnd::Changed { change: Change::Removed, by: Some(by), .. }) => {
            (by.machine() != holder.process.machine()).then_some((next, to, how))
        }
        (to, how @ KeyEnd::Changed { change, .. }) => is_loss(change).then_some((next, to, how)),
    }
}

fn is_loss(change: Change) -> bool {
    let losses = [Change::Flushed, Change::Evicted, Change::Forgotten, Change::Discarded];
    losses.contains(&change)
}

pub(super) fn own_spans<'t, 'h>(
    timeline: &'t Timeline<'h>,
    holder: &Acquisition<'h>,
    node: Node,
    before: Moment,
) -> Vec<&'t KeySpan<'h>> {
    let here = timeline.keys.iter().filter(|span| span.node == node && span.from < before);
    here.filter(|span| timeline.is_lock_of(span, holder)).collect()
}

/// Returns whether the lock renews its lease: the header says so, or processes extended leases or
/// wrote owner values again outside lock calls more often than unknown outcomes can explain.
pub(super) fn renews_by_itself(timeline: &Timeline<'_>) -> bool {
    if timeline.history.header.renews {
        return true;
    }
    let mut open: BTreeMap<u64, Node> = BTreeMap::new();
    let mut unknown: BTreeMap<Node, usize> = BTreeMap::new();
    let mut extended: BTreeMap<Node, usize> = BTreeMap::new();
    let mut set: BTreeMap<Node, SimTime> = BTreeMap::new();
    let mut owners: BTreeSet<(Node, &str)> = BTreeSet::new();
    let header = &timeline.history.header;
    timeline.history.events.iter().any(|event| {
        match &event.what {
            What::Invoke { action: Action::Read { .. } | Action::Write { .. }, .. } => {}
            What::Invoke { operation, .. } => {
                open.insert(*operation, event.node.machine());
            }
            What::Ok { operation, .. } | What::Fail { operation, .. } => {
                open.remove(operation);
                if let What::Ok { owner: Some(owner), .. } = &event.what {
                    owners.insert((event.node.machine(), owner));
                }
            }
            What::Info { operation, .. } => {
                let machine = open.remove(operation);
                machine.into_iter().for_each(|one| *unknown.entry(one).or_default() += 1);
            }
            What::Server { key, change, by: Some(by), value, .. } if *key == header.resource => {
                let (machine, before) = (by.machine(), set.insert(event.node, event.time_us));
                let apart = event.time_us.since(before.unwrap_or(SimTime::ZERO)).0;
                let is_apart = apart >= header.ttl_us.0 / RENEWALS_MAX;
                let is_own =
                    || value.as_deref().is_some_and(|value| owners.contains(&(machine, value)));
                let is_renewal = match change {
                    Change::Extended => true,
                    Change::Granted => is_own(),
                    _ => false,
                };
                if is_renewal && is_apart && open.values().all(|one| *one != machine) {
                    let times = extended.entry(machine).or_default();
                    *times += 1;
                    return unknown.get(&machine).copied().unwrap_or(0) < *times;
                }
            }
            _ => {}
        }
        false
    })
}

pub(super) fn is_given_short(timeline: &Timeline<'_>, span: &KeySpan<'_>) -> Option<bool> {
    let given = span.runs_out?.since(span.set.last()?.time);
    Some(given + GRANULARITY < timeline.history.header.ttl_us)
}

pub(super) fn removed_by_replication(span: &KeySpan<'_>) -> bool {
    matches!(span.to, Some((_, KeyEnd::Changed { change: Change::Removed, by: None, .. })))
}

/// Returns whether the history shows that the server had the value without an expiry, and no
/// process took such a lock over. A process that takes a lock over may compare a time in the value.
/// A Unix time in milliseconds counts as such a time even if no process took the lock over.
pub(crate) fn has_no_lease(timeline: &Timeline<'_>, span: &KeySpan<'_>) -> bool {
    let is_replaced = |key: &KeySpan<'_>| {
        let Some((at, KeyEnd::Replaced)) = key.to else { return false };
        let by = timeline.replacer(at).map(Node::machine);
        key.runs_out.is_none() && by.is_some_and(|by| key.by.map(Node::machine) != Some(by))
    };
    let is_removed = matches!(span.to, Some((_, KeyEnd::Changed { change: Change::Removed, .. })));
    let may_be_compared = is_removed && begins_with_unix_time(span);
    never_expires(timeline, span)
        && !has_unix_millis(span)
        && !timeline.keys.iter().any(is_replaced)
        && !takeover::takes_over(timeline)
        && (!may_be_compared || is_left_alone(timeline))
}

/// Returns whether a process waited while another process's lock was older than the ttl, and did
/// not take the lock over. If so, no process compares a time in the value.
fn is_left_alone(timeline: &Timeline<'_>) -> bool {
    let hinders = |from: SimTime, until: SimTime| {
        timeline
            .faults
            .iter()
            .any(|fault| fault.kind.impact() != Impact::LosesKeys && fault.touches(from, until))
    };
    timeline.keys.iter().filter(|key| key.by.is_some() && key.runs_out.is_none()).any(|key| {
        let from = key.from.time + timeline.history.header.ttl_us + COARSE;
        let until = from + timeline.history.header.ttl_us;
        let stands = key.to.map_or(timeline.end, |(to, _)| to.time) > until;
        let mut others = timeline.acquisitions.iter().filter(|one| Some(one.process) != key.by);
        let waits = |one: &Acquisition<'_>| {
            one.invoked.time <= from && one.completed.is_none_or(|at| until <= at.time)
        };
        stands && others.any(waits) && !hinders(from, until)
    })
}
