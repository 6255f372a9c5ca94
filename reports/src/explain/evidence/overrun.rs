//! Why a holder was still in its section when its lease was over.

use super::{early_loss, flight};
use crate::judge::finding::Clash;
use crate::judge::timeline::{Acquisition, Grant, KeyEnd, KeySpan, Moment, Timeline};
use crate::record::history::{Action, Change, What};
use fencepost_faults::{FaultKind, Impact, Micros, Node, SimTime};
use std::collections::BTreeMap;

/// How often a lock that renews its lease by itself does so in one lease at most. A second command
/// that completes a grant follows it sooner.
const RENEWALS_MAX: u64 = 20;

/// Whose lease was over while it was still there, and the span that counts: from when the lease was
/// last set until the holder left or its late write landed.
pub(crate) struct Overrun<'t, 'h> {
    timeline: &'t Timeline<'h>,
    holder: &'t Acquisition<'h>,
    grant: &'t Grant,
    lease: Lease,
    until: SimTime,
}

/// A lease that a server was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    pub(crate) from: SimTime,
    pub(crate) lasts: Micros,
}

impl Lease {
    pub(super) fn ends(self) -> SimTime {
        self.from + self.lasts
    }
}

impl<'t, 'h> Overrun<'t, 'h> {
    /// Of two acquisitions that stood against each other. A lock that lives with a session has no
    /// lease to overrun.
    pub(super) fn of_clash(timeline: &'t Timeline<'h>, clash: Clash) -> Option<Overrun<'t, 'h>> {
        if timeline.history.header.has_no_ttl() {
            return None;
        }
        let holder = &timeline.acquisitions[clash.earlier];
        let grant = holder.grant.as_ref()?;
        let changed_hands = timeline.acquisitions[clash.later].grant.as_ref()?.moment;
        let landed = clash.late_write.map(|index| timeline.moment(index).time);
        let left = timeline.section_of(clash.earlier).map(|section| section.ends(timeline.end));
        let until = landed.into_iter().chain(left).max()?;
        let lease = last_lease(timeline, holder, grant.node, changed_hands);
        Some(Overrun { timeline, holder, grant, lease, until })
    }

    /// Whether, without so much time, the holder would have been done within its lease.
    fn would_fit_without(&self, lost: Micros) -> bool {
        self.until.since(self.lease.from) - lost <= self.lease.lasts
    }

    /// Whether the holder stood still while its lease ran out, or would have been done in time had
    /// it not stood still.
    pub(crate) fn stood_still(&self) -> bool {
        let paused = paused(self.timeline, self.holder.process, self.lease.from, self.until);
        let lease_end = self.lease.ends();
        let across = self.timeline.faults.iter().any(|fault| {
            fault.does(Impact::Freezes, self.holder.process)
                && fault.from.time < lease_end
                && fault.to.is_none_or(|end| lease_end < end.time)
        });
        paused > Micros::ZERO && (across || self.would_fit_without(paused))
    }

    /// Whether the lease states its validity and the clock of the holder or of a server ran at the
    /// wrong rate: else such a lease is left in time.
    pub(crate) fn clock_ran_wrong(&self) -> bool {
        let servers = self.grant.servers.iter().map(|(node, _)| *node);
        let mut hosts = servers.chain([self.holder.process]);
        let drifts = |host: Node| {
            let mut faults = self.timeline.faults.iter();
            faults.any(|fault| {
                fault.hits(host, FaultKind::ClockDrift)
                    && fault.touches(self.lease.from, self.until)
            })
        };
        self.holder.valid_for.is_some() && hosts.any(drifts)
    }

    /// Whether the answer took at least a tenth of the lease, and without that time the holder
    /// would have been done.
    pub(crate) fn was_answered_late(&self) -> bool {
        let Some(heard) = self.holder.completed else { return false };
        let waited = heard.time.since(self.grant.moment.time);
        self.would_fit_without(waited) && waited.0 >= self.lease.lasts.0 / 10
    }

    /// Whether a fault held up what it sent to the storage, or the storage itself, and without the
    /// time for which it waited there the holder would have been done.
    pub(crate) fn waited_for_storage(&self) -> bool {
        self.is_too_long() && self.would_fit_without(self.waited_at_storage())
    }

    /// Whether it was in its section for longer than its lease.
    pub(crate) fn is_too_long(&self) -> bool {
        self.until.since(self.lease.from) > self.lease.lasts
    }

    /// The same of a lock that renews its lease by itself, so that its holder need not leave in
    /// time.
    pub(crate) fn missed_renewals(&self) -> bool {
        self.is_too_long() && renews_by_itself(self.timeline)
    }

    /// For how long requests of the holder were under way to the storage while a fault held them
    /// up.
    fn waited_at_storage(&self) -> Micros {
        let mut sent: BTreeMap<u64, SimTime> = BTreeMap::new();
        let mut waited = Micros::ZERO;
        let mut add = |asked: SimTime, answered: SimTime| {
            let (begin, end) = (asked.max(self.lease.from), answered.min(self.until));
            let mut faults = self.timeline.faults.iter().filter(|fault| fault.touches(begin, end));
            if begin < end && faults.any(flight::holds_up_storage) {
                waited = waited + end.since(begin);
            }
        };
        let events = self.timeline.history.events.iter();
        for event in events.filter(|event| event.node == self.holder.process) {
            match &event.what {
                What::Invoke {
                    operation,
                    action: Action::Read { acquisition } | Action::Write { acquisition, .. },
                } if *acquisition == self.holder.operation => {
                    sent.insert(*operation, event.time_us);
                }
                What::Ok { operation, .. }
                | What::Fail { operation, .. }
                | What::Info { operation, .. } => {
                    sent.remove(operation).into_iter().for_each(|asked| add(asked, event.time_us));
                }
                _ => {}
            }
        }
        sent.into_values().for_each(|asked| add(asked, self.until));
        waited
    }
}

/// The lease that the holder's process set last before a moment: at one of many servers; of one lock
/// that is replicated, wherever it was set. What was set after the lock had been lost belongs to
/// another lock, of a nested acquire that came too late.
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
        lost || replicated && expired_before(timeline, holder, span.from)
    };
    let until_lost = own.filter(|span| !was_lost(span));
    let machine = Some(holder.process.machine());
    let by_itself = |set: &&Moment| timeline.asked_by(**set).map(Node::machine) == machine;
    let set = until_lost.flat_map(|span| &span.set).filter(|set| **set < before).filter(by_itself);
    let set = set.max().copied().or(holder.grant.as_ref().map(|grant| grant.moment));
    let from = set.unwrap_or(holder.invoked).time;
    let asked = set.and_then(|set| timeline.lease_asked(set));
    Lease { from, lasts: asked.unwrap_or(timeline.history.header.ttl_us) }
}

/// Whether the holder's lock had expired at a primary while the holder was in its section.
fn expired_before(timeline: &Timeline<'_>, holder: &Acquisition<'_>, at: Moment) -> bool {
    let index = timeline.acquisition_of(holder.operation);
    let Some(section) = index.and_then(|index| timeline.section_of(index)) else { return false };
    timeline.keys.iter().filter(|span| timeline.is_lock_of(span, holder)).any(|span| {
        match span.to {
            Some((to, KeyEnd::Changed { change: Change::Expired, primary: true, .. })) => {
                to <= at && section.covers(to)
            }
            _ => false,
        }
    })
}

/// The span of the holder's value at a server that was lost before a moment: the first that ended
/// while the holder was in its section and nothing of the holder's took its place at once, for what
/// its process put there later was another lock under the same value. What a server removed because
/// the one that it follows had told it to may be a late copy of an earlier lock.
pub(super) fn lost_at<'t, 'h>(
    timeline: &'t Timeline<'h>,
    holder: &Acquisition<'h>,
    node: Node,
    before: Moment,
) -> Option<&'t KeySpan<'h>> {
    let own = own_spans(timeline, holder, node, before);
    let next_there = |to: Moment| {
        let later = timeline.keys.iter().filter(|span| span.node == node && to < span.from);
        later.min_by_key(|span| span.from)
    };
    // A holder that removes its lock in order to take it again has it again, if nobody was quicker.
    let goes_on = |to: Moment| {
        let by = timeline.asked_by(to).map(Node::machine);
        let taken_again = by == Some(holder.process.machine())
            && next_there(to).is_some_and(|next| own.iter().any(|one| std::ptr::eq(*one, next)));
        taken_again || own.iter().any(|next| next.from == to)
    };
    let section =
        timeline.acquisition_of(holder.operation).and_then(|index| timeline.section_of(index))?;
    let lost = |span: &&&KeySpan<'h>| {
        let was_told = early_loss::removed_by_replication(span);
        let lost_then = |to| to < before && section.covers(to) && !goes_on(to);
        !was_told && span.to.is_some_and(|(to, _)| lost_then(to))
    };
    own.iter().find(lost).copied()
}

/// The spans of the holder's value at a server that began before a moment, in order of time.
pub(super) fn own_spans<'t, 'h>(
    timeline: &'t Timeline<'h>,
    holder: &Acquisition<'h>,
    node: Node,
    before: Moment,
) -> Vec<&'t KeySpan<'h>> {
    let here = timeline.keys.iter().filter(|span| span.node == node && span.from < before);
    here.filter(|span| timeline.is_lock_of(span, holder)).collect()
}

/// For how long a host stood still between two instants.
pub(super) fn paused(timeline: &Timeline<'_>, host: Node, from: SimTime, until: SimTime) -> Micros {
    let pauses = timeline.faults.iter().filter(|fault| fault.does(Impact::Freezes, host));
    pauses.fold(Micros::ZERO, |sum, fault| sum + fault.within(from, until))
}

/// Whether the lock renews leases by itself: somewhere in the history a server was asked to, well
/// after the lease had been set, by a process all of whose calls had been answered. A call of which
/// it never heard may still be under way.
pub(super) fn renews_by_itself(timeline: &Timeline<'_>) -> bool {
    let mut open: BTreeMap<u64, Node> = BTreeMap::new();
    let mut set: BTreeMap<Node, SimTime> = BTreeMap::new();
    let header = &timeline.history.header;
    timeline.history.events.iter().any(|event| {
        match &event.what {
            What::Invoke { action: Action::Read { .. } | Action::Write { .. }, .. } => {}
            What::Invoke { operation, .. } => {
                open.insert(*operation, event.node.machine());
            }
            What::Ok { operation, .. } | What::Fail { operation, .. } => {
                open.remove(operation);
            }
            What::Server { key, change, by: Some(by), .. } if *key == header.resource => {
                let before = set.insert(event.node, event.time_us).unwrap_or(SimTime::ZERO);
                let apart = event.time_us.since(before).0 >= header.ttl_us.0 / RENEWALS_MAX;
                return *change == Change::Extended
                    && apart
                    && open.values().all(|machine| *machine != by.machine());
            }
            _ => {}
        }
        false
    })
}
