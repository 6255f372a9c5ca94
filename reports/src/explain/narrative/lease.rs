use super::Story;
use crate::explain::evidence::{
    COARSE, begins_with_unix_time, is_measured_by_wrong_clocks, last_lease,
};
use crate::explain::narrate;
use crate::judge::timeline::{Acquisition, Grant, KeyEnd, Moment, Timeline};
use crate::record::history::{Change, Keeping, What};
use fencepost_faults::{Impact, Micros, Node, SimTime};

/// Longest time after the end of a lease at which a removal still counts as prompt.
const REMOVAL_MAX: Micros = Micros::from_millis(200);

impl Story<'_, '_> {
    pub(super) fn lease_of(&self, one: &Acquisition<'_>, grant: &Grant) -> String {
        let has_lease = |what: &What| matches!(what, What::Server { lease_us: Some(_), .. });
        let is_recorded = matches!(grant.node, Node::Redis(_))
            && self.timeline.history.events.iter().any(|event| has_lease(&event.what));
        let set = self.set_last_with(grant);
        if is_measured_by_wrong_clocks(self.timeline, set) {
            return String::new();
        }
        if self.is_kept_in_value(grant) {
            return ", with a Unix time in the value and no expiry at the server".to_owned();
        }
        match self.timeline.lease_recorded(set) {
            Some(Micros::ZERO) => ", whose lease is already over".to_owned(),
            Some(lease) => {
                let lease = self.timeline.lease_asked(set).unwrap_or(lease);
                match self.lease_before_entry(one, grant, set).filter(|later| *later != lease) {
                    Some(later) => format!(", at first for {lease}, then for {later}"),
                    None => format!(" for {lease}"),
                }
            }
            None if is_recorded && self.is_leased_later(grant) => {
                ", at first without an expiry".to_owned()
            }
            None if is_recorded => ", without an expiry".to_owned(),
            None => format!(" for {}", self.timeline.history.header.ttl_us),
        }
    }

    /// Returns the last lease that the process requested at the server between grant and entry.
    fn lease_before_entry(
        &self,
        one: &Acquisition<'_>,
        grant: &Grant,
        granted: Moment,
    ) -> Option<Micros> {
        let timeline = self.timeline;
        let entered = one.completed?;
        let own = timeline.keys.iter().filter(|span| span.node == grant.node);
        let own = own.filter(|span| timeline.is_lock_of(span, one)).flat_map(|span| &span.set);
        let later = own.filter(|set| granted < **set && **set < entered);
        let last = later.filter(|set| timeline.asked_by(**set) == Some(one.process)).max()?;
        timeline.lease_asked(*last)
    }

    pub(super) fn recorded_lease(&self, grant: &Grant) -> Option<Micros> {
        self.timeline.lease_recorded(self.set_last_with(grant))
    }

    /// Returns whether the lock's value begins with a Unix time, and the server recorded no expiry.
    fn is_kept_in_value(&self, grant: &Grant) -> bool {
        let mut keys = self.timeline.keys.iter();
        let key = keys.find(|key| (key.node, key.from) == (grant.node, grant.moment));
        key.is_some_and(begins_with_unix_time) && self.recorded_lease(grant).is_none()
    }

    fn is_leased_later(&self, grant: &Grant) -> bool {
        let mut keys = self.timeline.keys.iter();
        keys.any(|key| key.from == grant.moment && key.runs_out.is_some())
    }

    /// Returns the key's last extension at the instant of the grant, or the grant if there is none.
    fn set_last_with(&self, grant: &Grant) -> Moment {
        let (timeline, granted) = (self.timeline, grant.moment);
        let key_of = |at: Moment| match &timeline.history.events[at.index].what {
            What::Server { key, .. } => Some(key),
            _ => None,
        };
        let later = (granted.index..timeline.history.events.len()).map(|at| timeline.moment(at));
        let meanwhile = later.take_while(|at| at.time == granted.time);
        let sets = |at: &Moment| {
            let event = &timeline.history.events[at.index];
            let is_set = matches!(event.what, What::Server { change: Change::Extended, .. });
            event.node == grant.node && is_set && key_of(*at) == key_of(granted)
        };
        meanwhile.filter(sets).last().unwrap_or(granted)
    }

    /// Returns the recorded or calculated end of the lease, and whether this is a late removal.
    pub(super) fn lease_ended(
        &self,
        holder: &Acquisition<'_>,
        taker: &Acquisition<'_>,
        left: Moment,
    ) -> Option<(SimTime, bool)> {
        let timeline = self.timeline;
        let held = holder.grant.as_ref()?;
        let calculated = self
            .lease_end(holder, taker)
            .filter(|end| !self.is_measured_by_bent_clock(held, *end))
            .filter(|_| !self.is_kept_in_value(held));
        if self.ended_with_membership(holder) {
            return None;
        }
        let ended = match self.recorded_end(holder, left) {
            // A server may remove an expired lock slightly later than the lease ends.
            Some((at, Some(is_late))) => match calculated {
                Some(end) if end <= at && at.since(end) <= REMOVAL_MAX => Some((end, false)),
                _ => Some((at, is_late)),
            },
            // The lock ended in another way, so only an earlier end of the lease matters.
            Some((at, None)) => calculated.filter(|end| *end < at).map(|end| (end, false)),
            None => expired(timeline, holder).or(calculated).map(|end| (end, false)),
        };
        ended.filter(|(end, _)| !is_set_again(timeline, holder, *end, left))
    }

    fn ended_with_membership(&self, holder: &Acquisition<'_>) -> bool {
        let history = self.timeline.history;
        self.timeline.gone(holder).is_some_and(|(at, _)| {
            narrate::ended_with_membership(history, &history.events[at.index])
        })
    }

    /// Returns when the lock last ended at the granting server and, if it expired, whether the
    /// server removed it only at the next request. With several masters, only expiry counts.
    fn recorded_end(
        &self,
        holder: &Acquisition<'_>,
        left: Moment,
    ) -> Option<(SimTime, Option<bool>)> {
        let timeline = self.timeline;
        let is_late = |end: KeyEnd| match end {
            KeyEnd::Changed { change: Change::Expired, by, .. } => Some(by.is_some()),
            _ => None,
        };
        if timeline.history.header.quorum > 1 {
            return expired(timeline, holder).map(|at| (at, Some(false)));
        }
        let node = holder.grant.as_ref()?.node;
        let ends =
            timeline.keys_of(holder).filter(|span| span.node == node).filter_map(|span| span.to);
        let last = ends.filter(|(at, _)| *at < left).max_by_key(|(at, _)| *at);
        last.map(|(at, end)| (at.time, is_late(end)))
    }

    fn is_measured_by_bent_clock(&self, grant: &Grant, end: SimTime) -> bool {
        let bends = |node: &Node| {
            node.is_server() || self.timeline.history.header.kept_as == Some(Keeping::RowByClients)
        };
        self.timeline.faults.iter().any(|fault| {
            fault.kind.impact() == Impact::BendsClock
                && fault.nodes.iter().any(bends)
                && fault.touches(grant.moment.time, end.max(grant.moment.time))
        })
    }

    fn lease_end(&self, holder: &Acquisition<'_>, taker: &Acquisition<'_>) -> Option<SimTime> {
        let (held, taken) = (holder.grant.as_ref()?, taker.grant.as_ref()?);
        let lease = last_lease(self.timeline, holder, held.node, taken.moment);
        let set = self
            .timeline
            .keys_of(holder)
            .flat_map(|key| &key.set)
            .filter(|set| set.time == lease.from)
            .max();
        let recorded = set
            .filter(|set| !is_measured_by_wrong_clocks(self.timeline, **set))
            .and_then(|set| self.timeline.lease_recorded(*set));
        let is_rounded = |recorded: &Micros| recorded.0.abs_diff(lease.lasts.0) <= COARSE.0;
        Some(recorded.filter(is_rounded).map_or(lease.ends(), |lasts| lease.from + lasts))
    }
}

/// Returns whether the process set its lease again meanwhile, so the earlier end does not count.
fn is_set_again(
    timeline: &Timeline<'_>,
    holder: &Acquisition<'_>,
    from: SimTime,
    until: Moment,
) -> bool {
    let machine = Some(holder.process.machine());
    let mut set = timeline.keys_of(holder).flat_map(|span| &span.set);
    set.any(|set| {
        let is_own = timeline.asked_by(*set).map(Node::machine) == machine;
        is_own && from <= set.time && *set < until
    })
}

/// Returns when the holder's lock ended, if it ended by expiry.
fn expired(timeline: &Timeline<'_>, holder: &Acquisition<'_>) -> Option<SimTime> {
    match timeline.gone(holder)? {
        (at, KeyEnd::Changed { change: Change::Expired, .. }) => Some(at.time),
        _ => None,
    }
}
