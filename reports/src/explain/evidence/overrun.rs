//! Finds out why a holder was still in its critical section when its lease expired.

use super::flight;
use super::lease::{Lease, last_lease, renews_by_itself};
use crate::judge::finding::Clash;
use crate::judge::timeline::{Acquisition, Grant, Timeline};
use crate::record::history::{Action, What};
use fencepost_faults::{FaultKind, Impact, Micros, Node, SimTime};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct Overrun<'t, 'h> {
    timeline: &'t Timeline<'h>,
    holder: &'t Acquisition<'h>,
    grant: &'t Grant,
    lease: Lease,
    until: SimTime,
}

impl<'t, 'h> Overrun<'t, 'h> {
    /// Returns `None` if no lease expired before the holder left and before its late write arrived.
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
        let overrun = Overrun { timeline, holder, grant, lease, until };
        overrun.is_too_long().then_some(overrun)
    }

    fn is_too_long(&self) -> bool {
        self.until.since(self.lease.from) > self.lease.lasts
    }

    fn would_fit_without(&self, lost: Micros) -> bool {
        self.until.since(self.lease.from) - lost <= self.lease.lasts
    }

    pub(crate) fn was_paused(&self) -> bool {
        let paused = self.timeline.paused(self.holder.process, self.lease.from, self.until);
        let lease_end = self.lease.ends();
        let across = self.timeline.faults.iter().any(|fault| {
            fault.does(Impact::Freezes, self.holder.process)
                && fault.from.time < lease_end
                && fault.to.is_none_or(|end| lease_end < end.time)
        });
        paused > Micros::ZERO && (across || self.would_fit_without(paused))
    }

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

    pub(crate) fn was_answered_late(&self) -> bool {
        let Some(heard) = self.holder.completed else { return false };
        // Waiting before a renewal does not shorten the renewed lease.
        let waited = heard.time.since(self.grant.moment.time.max(self.lease.from));
        self.would_fit_without(waited) && waited.0 >= self.lease.lasts.0 / 10
    }

    pub(crate) fn answer_was_cut_off(&self) -> bool {
        let Some(heard) = self.holder.completed else { return false };
        let mut cuts =
            self.timeline.faults.iter().filter(|fault| fault.kind == FaultKind::Partition);
        self.was_answered_late()
            && cuts.any(|cut| {
                cut.names(self.holder.process.machine())
                    && cut.names(self.grant.node)
                    && cut.touches(self.grant.moment.time, heard.time)
            })
    }

    pub(crate) fn waited_for_storage(&self) -> bool {
        self.would_fit_without(self.waited_at_storage())
    }

    pub(crate) fn missed_renewals(&self) -> bool {
        renews_by_itself(self.timeline) || self.lost_a_renewal() || self.failed_to_extend()
    }

    fn failed_to_extend(&self) -> bool {
        let events = self.timeline.history.events.iter();
        let during = |at: SimTime| self.lease.from < at && at <= self.lease.ends();
        let sent: BTreeSet<u64> = events
            .clone()
            .filter(|event| event.node == self.holder.process && during(event.time_us))
            .filter_map(|event| match event.what {
                What::Invoke { operation, action: Action::Extend } => Some(operation),
                _ => None,
            })
            .collect();
        let confirmed = |operation: &u64| {
            let mut events = events.clone();
            events.any(
                |event| matches!(event.what, What::Ok { operation: ok, .. } if ok == *operation),
            )
        };
        sent.iter().any(|operation| !confirmed(operation))
    }

    /// Returns whether a command of the process, or its reply, was lost between lock calls and
    /// before the lease ended. Such a command must be a renewal.
    fn lost_a_renewal(&self) -> bool {
        let Some(heard) = self.holder.completed else { return false };
        let machine = self.holder.process.machine();
        let mut open: BTreeSet<u64> = BTreeSet::new();
        self.timeline.history.events.iter().any(|event| {
            match &event.what {
                What::Invoke { action: Action::Read { .. } | Action::Write { .. }, .. } => {}
                What::Invoke { operation, .. } if event.node.machine() == machine => {
                    open.insert(*operation);
                }
                What::Ok { operation, .. }
                | What::Fail { operation, .. }
                | What::Info { operation, .. } => {
                    open.remove(operation);
                }
                What::FaultBegan { kind, nodes, .. } => {
                    let is_loss = matches!(kind, FaultKind::LostRequest | FaultKind::LostReply);
                    let is_own =
                        nodes.contains(&machine) && nodes.iter().any(|one| one.is_server());
                    let is_then = heard.time < event.time_us && event.time_us <= self.lease.ends();
                    return is_loss && is_own && is_then && open.is_empty();
                }
                _ => {}
            }
            false
        })
    }

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
