//! The processes, grants and faults of a finding, from which the sentence of its cause is written.

mod clocks;

use super::evidence::{
    COARSE, EarlyExpiry, LateRelease, Lease, ROUNDING, early_loss, flight, has_no_lease,
    is_measured_by_wrong_clocks, is_of_members, last_lease, lost_at, overwritten_until, release,
    renewed_over,
};
use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::timeline::{Acquisition, Grant, KeyEnd, Moment, Timeline, creator};
use crate::record::history::{Change, What};
use crate::record::listed::listed;
use fencepost_faults::{Micros, Node, SimTime};
use std::collections::BTreeSet;

pub(super) struct Scene<'t, 'h> {
    pub(super) timeline: &'t Timeline<'h>,
    pub(super) kind: Kind,
    /// The clash's earlier acquisition.
    pub(super) holder: &'t Acquisition<'h>,
    /// The clash's later acquisition.
    pub(super) taker: &'t Acquisition<'h>,
    pub(super) at: SimTime,
    pub(super) removed: Option<Moment>,
    clash: Clash,
}

impl<'t, 'h> Scene<'t, 'h> {
    pub(super) fn new(
        timeline: &'t Timeline<'h>,
        finding: &Finding,
        clash: Clash,
    ) -> Scene<'t, 'h> {
        let (holder, taker) =
            (&timeline.acquisitions[clash.earlier], &timeline.acquisitions[clash.later]);
        let (at, removed) = (finding.at + finding.duration, release::removal(timeline, finding));
        Scene { timeline, kind: finding.kind, holder, taker, at, removed, clash }
    }

    pub(super) fn both(&self) -> [Node; 2] {
        [self.holder.process, self.taker.process]
    }

    pub(super) fn late_release(&self) -> Option<LateRelease> {
        release::late_release(self.timeline, self.holder.process, self.removed?, self.taker)
    }

    pub(super) fn held_at(&self) -> String {
        server(self.holder)
    }

    pub(super) fn taken_at(&self) -> String {
        server(self.taker)
    }

    /// Returns when and how the holder's lock first ended. If a process overwrote the lock's value
    /// without getting the lock, the end of the new value counts.
    pub(super) fn gone(&self) -> Option<(Moment, KeyEnd)> {
        let (held, taken) = (self.holder.grant.as_ref(), self.taker.grant.as_ref());
        let lost = held.zip(taken).and_then(|(held, taken)| {
            let servers = held.servers.iter().map(|(server, _)| *server);
            let lost = servers
                .filter_map(|node| lost_at(self.timeline, self.holder, node, taken.moment)?.to);
            lost.min_by_key(|(at, _)| *at)
        });
        let (at, how) = lost.or_else(|| self.timeline.gone(self.holder))?;
        let removed = taken.filter(|_| how == KeyEnd::Replaced).and_then(|taken| {
            let (_, at, how) = overwritten_until(self.timeline, self.holder, at, taken.moment)?;
            Some((at, how))
        });
        Some(removed.unwrap_or((at, how)))
    }

    /// Returns the process whose command last ended the lock by the later grant, and when and how.
    pub(super) fn last_loss(&self) -> Option<(Node, SimTime, KeyEnd)> {
        let (held, taken) = (self.holder.grant.as_ref()?, self.taker.grant.as_ref()?);
        let ends = self.timeline.keys_of(self.holder).filter_map(|key| key.to);
        let (at, how) = ends
            .filter(|(at, _)| held.moment < *at && *at <= taken.moment)
            .max_by_key(|(at, _)| *at)?;
        Some((self.timeline.asked_by(at)?, at.time, how))
    }

    /// Returns whether a primary, not only a replica, recorded that this change ended the lock.
    fn is_of_primary(&self, change: Change) -> bool {
        self.timeline.keys_of(self.holder).any(|key| match key.to {
            Some((_, KeyEnd::Changed { change: ended, primary, .. })) => ended == change && primary,
            _ => false,
        })
    }

    fn servers_where(&self, ended: impl Fn(KeyEnd) -> bool) -> BTreeSet<Node> {
        let until = self.taker.grant.as_ref().map_or(self.at, |taken| taken.moment.time);
        let own = self.timeline.keys_of(self.holder);
        let ended =
            own.filter(|key| key.to.is_some_and(|(at, how)| at.time <= until && ended(how)));
        ended.map(|key| key.node).collect()
    }

    /// Returns the subject of a sentence about the servers at which this change ended the holder's
    /// lock, and whether the subject is singular.
    pub(super) fn lost_at(&self, change: Change) -> (String, bool) {
        // Replicas repeat changes, so if a primary recorded the change, only primaries count.
        let at_primary = self.is_of_primary(change);
        let is_change = |how| match how {
            KeyEnd::Changed { change: ended, primary, .. } => {
                ended == change && (primary || !at_primary)
            }
            KeyEnd::Replaced => false,
        };
        let servers: Vec<Node> = self.servers_where(is_change).into_iter().collect();
        match servers.len() {
            0 => (self.held_at(), true),
            many => (listed(&servers, "and"), many == 1),
        }
    }

    /// Returns whether the lost update is that of the late write.
    pub(super) fn is_overwritten_late(&self) -> bool {
        let landed = self.clash.late_write.map(|index| self.timeline.moment(index).time);
        self.kind == Kind::LostUpdate && landed.is_some_and(|landed| landed < self.at)
    }

    pub(super) fn ended_at(&self, change: Change) -> Option<SimTime> {
        let until = self.taker.grant.as_ref().map_or(self.at, |taken| taken.moment.time);
        let ends =
            self.timeline.keys_of(self.holder).filter_map(|key| key.to).filter(|(at, how)| {
                at.time <= until
                    && matches!(how, KeyEnd::Changed { change: ended, .. } if *ended == change)
            });
        ends.map(|(at, _)| at.time).max()
    }

    /// Returns the subject of a sentence about crashes of servers, and whether it is singular.
    pub(super) fn restarted(&self) -> (String, bool) {
        let (held, taken) = (self.holder.grant.as_ref(), self.taker.grant.as_ref());
        let Some((held, taken)) = held.zip(taken) else { return (self.held_at(), true) };
        let events = self.timeline.history.events.iter().skip(held.moment.index);
        let between = events.take(taken.moment.index.saturating_sub(held.moment.index));
        let crashed = between.filter(|event| matches!(event.what, What::Crashed));
        let crashed: BTreeSet<Node> =
            crashed.map(|event| event.node).filter(|node| node.is_server()).collect();
        if crashed.is_empty() {
            return (self.held_at(), true);
        }
        // Members of a distributed system share the counter, so each crashed member counts.
        let is_own = held.node == taken.node || !is_of_members(self.timeline);
        if crashed.contains(&taken.node) && is_own {
            return (self.taken_at(), true);
        }
        let servers: Vec<Node> = crashed.into_iter().collect();
        (listed(&servers, "and"), servers.len() == 1)
    }

    pub(super) fn servers_without_memory(&self) -> Option<String> {
        let taken = self.taker.grant.as_ref()?;
        let is_forgotten = |how| matches!(how, KeyEnd::Changed { change: Change::Forgotten, .. });
        let servers = self.servers_where(is_forgotten).into_iter();
        let granted = |node: &Node| taken.servers.iter().any(|(server, _)| server == node);
        let servers: Vec<Node> = servers.filter(granted).collect();
        (!servers.is_empty()).then(|| listed(&servers, "and"))
    }

    /// Returns when the holder's own process removed the lock. If that process did not remove the
    /// lock, returns when the lock ended.
    pub(super) fn removed_by_holder(&self) -> Option<Moment> {
        let losses = early_loss::of_clash(self.timeline, self.clash);
        let mut lost = losses
            .iter()
            .flat_map(|loss| [&loss.at_granting_server, &loss.at_taking_server])
            .flatten();
        lost.find_map(|loss| loss.removed_by_itself()).or_else(|| Some(self.gone()?.0))
    }

    /// Returns whether the server that granted the lock again had expired the lock at the end of
    /// the first lease, because this server had not received an extension.
    pub(super) fn expired_as_first_set(&self) -> bool {
        let losses = early_loss::of_clash(self.timeline, self.clash);
        let mut lost = losses.iter().filter_map(|loss| loss.at_taking_server.as_ref());
        lost.any(|loss| loss.ran_out() == Some(EarlyExpiry::ByFirstLease))
    }

    /// If the taking server let the lease expire, returns which server extended it, and when.
    pub(super) fn extended_elsewhere(&self) -> Option<(Node, Moment)> {
        let losses = early_loss::of_clash(self.timeline, self.clash);
        losses.iter().find_map(|loss| loss.at_taking_server.as_ref()?.extended_elsewhere())
    }

    fn involves(&self, machine: Node) -> bool {
        let mut both = [self.holder, self.taker].into_iter();
        both.any(|one| {
            one.process.machine() == machine
                || one
                    .grant
                    .as_ref()
                    .is_some_and(|grant| grant.servers.iter().any(|(server, _)| *server == machine))
        })
    }

    pub(super) fn wrote_after_leaving(&self) -> Option<(SimTime, SimTime)> {
        let What::Storage { operation, .. } =
            self.timeline.history.events[self.clash.late_write?].what
        else {
            return None;
        };
        let sent = self.timeline.invocation_of(operation)?;
        let left = self.timeline.section_of_call(self.holder.operation)?.to?;
        (left < sent).then_some((left.time, sent.time))
    }

    /// Returns the process whose release removed the holder's lock, and when it began that release.
    /// Returns `None` unless exactly one release of the process has an unknown outcome.
    pub(super) fn removal_sent(&self) -> Option<(Node, Moment)> {
        let (removed, _) = self.gone()?;
        let by = self.timeline.asked_by(removed)?;
        let sent = release::unknown(self.timeline, by, removed)?;
        (release::unanswered(self.timeline, by, removed) == 1).then_some((by, sent))
    }

    pub(super) fn is_write_sent_after_the_grant(&self) -> bool {
        let sent = flight::sent(self.timeline, self.clash).map(|(sent, _)| sent);
        sent.zip(self.taker.grant.as_ref()).is_some_and(|(sent, taken)| taken.moment < sent)
    }

    pub(super) fn write_sent_after_the_loss(&self) -> Option<Micros> {
        let (sent, _) = flight::sent(self.timeline, self.clash)?;
        let (gone, _) = self.gone().filter(|(gone, _)| *gone < sent)?;
        // A raised or lowered count replaces the value, but the lock remains.
        let is_held = self
            .timeline
            .keys_of(self.holder)
            .any(|key| key.from < sent && key.to.is_none_or(|(to, _)| sent < to));
        (!is_held).then(|| sent.time.since(gone.time))
    }

    /// Returns a later holder that the storage served before the holder sent its late write.
    pub(super) fn served_before_sending(&self) -> Option<Node> {
        let timeline = self.timeline;
        let (sent, _) = flight::sent(timeline, self.clash)?;
        let held = self.holder.grant.as_ref()?.moment;
        let mut served = timeline.storage.iter().filter(|request| request.moment < sent);
        served.find_map(|request| {
            let granted = timeline.granted_at(request.acquisition?)?;
            let is_other = request.process.machine() != self.holder.process.machine();
            (is_other && held < granted).then_some(request.process)
        })
    }

    /// Returns when the holder's lease was last set, if that was after the grant.
    pub(super) fn lease_set_again(&self) -> Option<SimTime> {
        let (held, taken) = (self.holder.grant.as_ref()?, self.taker.grant.as_ref()?);
        let lease = last_lease(self.timeline, self.holder, held.node, taken.moment);
        (held.moment.time < lease.from).then_some(lease.from)
    }

    pub(super) fn is_taken_within_lease(&self) -> bool {
        let (Some(held), Some(taken)) = (&self.holder.grant, &self.taker.grant) else {
            return false;
        };
        let lease = last_lease(self.timeline, self.holder, held.node, taken.moment);
        let mut own = self.timeline.keys_of(self.holder);
        !self.timeline.history.header.has_no_ttl()
            && taken.moment.time < lease.ends()
            && !own.any(|key| has_no_lease(self.timeline, key))
    }

    /// Returns the other processes that the taker's server put first in the queue between `from`
    /// and the taker's grant.
    pub(super) fn first_before_taker(&self, from: Moment) -> Vec<Node> {
        let history = self.timeline.history;
        let Some(taken) = self.taker.grant.as_ref() else { return Vec::new() };
        if !history.header.has_queue() {
            return Vec::new();
        }
        let between = &history.events[from.index.min(taken.moment.index)..taken.moment.index];
        let heads = between.iter().filter_map(|event| match &event.what {
            What::Server { key, change: Change::Granted, value: Some(value), .. }
                if event.node == taken.node && *key == history.header.resource =>
            {
                creator(history, value)
            }
            _ => None,
        });
        let mut before: Vec<Node> = heads.filter(|head| !self.both().contains(head)).collect();
        before.dedup();
        before
    }

    pub(super) fn is_taken_next_after(&self, from: Moment) -> bool {
        let Some(taken) = self.taker.grant.as_ref().map(|grant| grant.moment) else { return true };
        let others =
            self.timeline.acquisitions.iter().filter(|one| !self.involves(one.process.machine()));
        let mut granted = others.filter_map(|one| Some(one.grant.as_ref()?.moment));
        !granted.any(|granted| from < granted && granted < taken)
    }

    pub(super) fn is_ungranted(&self) -> bool {
        self.holder.grant.is_none() || self.taker.grant.is_none()
    }

    /// Returns a server that had another process's value at the entry of `told`, and that process,
    /// if the process of `told` also writes this value.
    pub(super) fn same_value_at(&self, told: &Acquisition<'_>) -> Option<(Node, Node)> {
        let entered = told.completed?;
        let machine = told.process.machine();
        let mut standing = self.timeline.keys.iter().filter(|span| {
            span.by.is_some_and(|by| by.machine() != machine)
                && self.timeline.exists_at(span, entered)
        });
        let writes = |value: Option<&str>| {
            let mut own = self.timeline.keys.iter();
            own.any(|span| span.by.map(Node::machine) == Some(machine) && span.value == value)
        };
        standing.find_map(|span| Some((span.node, span.by.filter(|_| writes(span.value))?)))
    }

    pub(super) fn shared_server(&self) -> Option<String> {
        let (held, taken) = (self.holder.grant.as_ref()?, self.taker.grant.as_ref()?);
        let mut lost = self.timeline.history.events.iter().filter_map(|event| match &event.what {
            What::Server { change: Change::Forgotten, .. } => Some(event.node),
            _ => None,
        });
        let granted =
            |grant: &Grant, node: Node| grant.servers.iter().any(|(server, _)| *server == node);
        lost.find(|node| granted(held, *node) && granted(taken, *node)).map(|node| node.to_string())
    }

    pub(super) fn lease(&self) -> Micros {
        let Some(lease) = self.last_lease() else { return self.ttl() };
        self.cut_lease(lease).unwrap_or(lease.lasts)
    }

    /// Returns the recorded lease if the server cut a part of a second off the lease.
    fn cut_lease(&self, lease: Lease) -> Option<Micros> {
        let node = self.holder.grant.as_ref()?.node;
        let own = self.timeline.keys.iter().filter(|span| span.node == node);
        let set = own.flat_map(|span| &span.set).find(|set| set.time == lease.from)?;
        let recorded = self.timeline.lease_recorded(*set)?;
        let is_cut = matches!(node, Node::Server(_))
            && ROUNDING < lease.lasts - recorded
            && lease.lasts - recorded < COARSE
            && !is_measured_by_wrong_clocks(self.timeline, *set);
        is_cut.then_some(recorded)
    }

    /// Returns how much of the lease had passed when the holder received its grant.
    pub(super) fn passed_lease(&self) -> String {
        let heard = self.holder.completed.map(|heard| heard.time);
        let Some((heard, lease)) = heard.zip(self.last_lease()) else {
            return "a part of the lease".to_owned();
        };
        match heard.since(lease.from) {
            passed if lease.lasts <= passed => "the lease".to_owned(),
            passed if lease.lasts.0 < 2 * passed.0 => "most of the lease".to_owned(),
            passed => format!("{passed} of its {} lease", self.lease()),
        }
    }

    pub(super) fn lease_ends(&self) -> Option<SimTime> {
        self.last_lease().map(Lease::ends)
    }

    fn last_lease(&self) -> Option<Lease> {
        let (held, taken) = (self.holder.grant.as_ref()?, self.taker.grant.as_ref()?);
        Some(last_lease(self.timeline, self.holder, held.node, taken.moment))
    }

    pub(super) fn renewed_over(&self) -> Option<(Node, SimTime)> {
        let (at, _) = self.gone().filter(|(_, how)| *how == KeyEnd::Replaced)?;
        Some((renewed_over(self.timeline, self.holder, at)?, at.time))
    }

    pub(super) fn last_set_by_another(&self) -> Option<(Node, Moment)> {
        let sets = self.timeline.keys_of(self.holder).filter_map(|span| span.set.last());
        let mut by = sets.filter_map(|set| Some((self.timeline.asked_by(*set)?, *set)));
        by.find(|(by, _)| by.machine() != self.holder.process.machine())
    }

    pub(super) fn other_keys_extended(&self) -> Vec<String> {
        let from = self.holder.completed.map_or(0, |entered| entered.index);
        let events = self.timeline.history.events[from..].iter();
        let meanwhile = events.take_while(|event| event.time_us <= self.at);
        let keys: BTreeSet<String> = meanwhile
            .filter_map(|event| match &event.what {
                What::Server { key, change: Change::Extended, by: Some(by), .. }
                    if *by == self.holder.process
                        && *key != self.timeline.history.header.resource =>
                {
                    Some(format!("{key:?}"))
                }
                _ => None,
            })
            .collect();
        keys.into_iter().collect()
    }

    pub(super) fn ttl(&self) -> Micros {
        self.timeline.history.header.ttl_us
    }
}

fn server(acquisition: &Acquisition<'_>) -> String {
    let grant = acquisition.grant.as_ref();
    grant.map_or("the server".to_owned(), |grant| grant.node.to_string())
}

pub(super) fn names(nodes: &[Node]) -> String {
    let names: Vec<String> = nodes.iter().map(Node::to_string).collect();
    names.join(", ")
}
