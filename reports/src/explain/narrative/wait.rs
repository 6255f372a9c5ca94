//! Describes a finding without conflicting acquisitions, such as a wait.

use super::fault::begins;
use super::{Story, Weight};
use crate::explain::cause::{Cause, Tells};
use crate::explain::evidence::{set_again, standing};
use crate::explain::narrate;
use crate::judge::finding::Finding;
use crate::judge::timeline::{Acquisition, FaultSpan, KeyEnd, KeySpan, Moment, Timeline, creator};
use crate::record::history::{Action, Change, Turn, What};
use fencepost_faults::{FaultKind, Impact, Micros, Node, SimTime};

/// Longest time after a server fault at which a call may still fail because of the fault.
const RECONNECT: Micros = Micros::from_secs(1);

impl Story<'_, '_> {
    pub(super) fn last_lock(&mut self, finding: &Finding, cause: Cause) {
        let timeline = self.timeline;
        let has_queue = timeline.history.header.has_queue();
        self.orphan_renewal(finding);
        self.refusals(finding);
        let deleted = timeline.waiter_without_node(&finding.processes).filter(|_| has_queue);
        if let Some((_, at)) = deleted {
            self.add_event(Weight::Turn, at.index);
        }
        match cause.tells(finding.kind) {
            Tells::BrokenConnections => self.broken_connections(finding),
            Tells::LostWatch => self.lost_watch(finding),
            _ => {}
        }
        let begun = timeline.keys.iter().filter(|key| key.from.time <= finding.at);
        let last = begun.filter(|key| !self.is_echo(key)).max_by_key(|key| key.from);
        let standing = standing(timeline, finding).filter(|key| key.from.time <= finding.at);
        let Some(last) = standing.or(last) else { return };
        // Other servers may learn much later which node is first, so the earliest record counts.
        let same = timeline.keys.iter().filter(|key| key.value == last.value);
        let first = same.min_by_key(|key| key.from).filter(|_| has_queue);
        let last = first.unwrap_or(last);
        self.add_event(Weight::Turn, last.from.index);
        // If the value is a copy, also state when a process wrote the value.
        let written = timeline.keys.iter().filter(|key| key.value == last.value);
        let written = written.filter(|key| key.by.is_some() && key.from < last.from);
        let written = copied_from(timeline, last).or_else(|| written.max_by_key(|key| key.from));
        if let Some(written) = written.filter(|_| last.by.is_none()) {
            self.add_event(Weight::Turn, written.from.index);
            self.not_copied(written, last, finding);
        }
        self.unknown_acquire(last);
        let until = finding.at + finding.duration;
        let copies = timeline.keys.iter().filter(|key| has_queue && key.value == last.value);
        // In a queue, followers repeat the leader's removal, so the earliest removal counts.
        let removed = copies.filter_map(|key| key.to).min_by_key(|(to, _)| *to).or(last.to);
        if let Some((to, _)) = removed.filter(|(to, _)| to.time <= until) {
            self.add_event(Weight::Turn, to.index);
        }
        let blocks = |key: &&KeySpan<'_>| {
            let stood = timeline.existed_until(key).min(until).since(key.from.time);
            finding.at < key.from.time && finding.duration.0 < 2 * stood.0
        };
        if let Some(blocking) = timeline.keys.iter().find(blocks) {
            self.add_event(Weight::Turn, blocking.from.index);
        }
        let mut owners = timeline.acquisitions.iter().rev();
        // At a lagging server, a node may become first in the queue after its owner has left.
        let is_owner = |one: &Acquisition<'_>| one.owner.is_some() && one.owner == last.value;
        let owner = owners.find(|one| timeline.is_lock_of(last, one) || has_queue && is_owner(one));
        let left = owner.and_then(|owner| timeline.section_of_call(owner.operation)?.to);
        if let Some(left) = left.filter(|left| left.time <= until) {
            self.add_event(Weight::Turn, left.index);
            self.unknown_outcome(left);
        }
    }

    /// Adds the change that the copy lacks (the end of the lock or the setting of its expiry), and
    /// the faults and the promotion that may explain this.
    fn not_copied(&mut self, written: &KeySpan<'_>, copy: &KeySpan<'_>, finding: &Finding) {
        let timeline = self.timeline;
        let until = finding.at + finding.duration;
        let removed = written.to.filter(|(to, _)| to.time <= until).map(|(to, _)| to);
        let expiry = written.set.last().copied().filter(|_| copy.runs_out.is_none());
        let expiry = expiry.filter(|set| written.from < *set);
        let Some(missed) = expiry.or(removed) else { return };
        self.add_event(Weight::Turn, missed.index);
        let holds_up = |fault: &&FaultSpan<'_>| {
            matches!(fault.kind.impact(), Impact::HoldsUpMessages | Impact::Freezes)
                && fault.names(written.node)
                && fault.touches(written.from.time, missed.time)
        };
        for fault in timeline.faults.iter().rev().filter(holds_up).take(2) {
            self.add(Weight::Fault, fault.from.index, begins(fault));
        }
        let ended = Moment { time: until, index: timeline.history.events.len() };
        let promoted = timeline.roles.promoted(copy.node, ended);
        let Some(promoted) = promoted.filter(|promoted| written.from < *promoted) else { return };
        self.add_event(Weight::Turn, promoted.index);
        let stops = |fault: &&FaultSpan<'_>| {
            matches!(fault.kind.impact(), Impact::Kills | Impact::Freezes | Impact::TakesOver)
                && fault.names(written.node)
                && fault.touches(missed.time, promoted.time)
        };
        if let Some(fault) = timeline.faults.iter().rev().find(stops) {
            self.add(Weight::Fault, fault.from.index, begins(fault));
        }
    }

    /// Adds up to two faults that hit the queue's first process or its server before it was first.
    fn lost_watch(&mut self, finding: &Finding) {
        let timeline = self.timeline;
        let until = finding.at + finding.duration;
        let remains =
            |node: &&KeySpan<'_>| node.from.time < until && until <= timeline.existed_until(node);
        let first = timeline.keys.iter().filter(remains).min_by_key(|node| node.from);
        let Some(first) = first else { return };
        let creator = first.value.and_then(|node| creator(timeline.history, node));
        let Some(waiter) = creator else { return };
        let events = timeline.history.events[..first.from.index].iter().enumerate().rev();
        let mut served = events.filter(|(_, event)| match event.what {
            What::Server { by, .. } => by == Some(waiter),
            _ => false,
        });
        let Some((_, event)) = served.next() else { return };
        let server = event.node;
        let is_of_both =
            |fault: &FaultSpan<'_>| fault.names(server) || fault.names(waiter.machine());
        let hits = |fault: &&FaultSpan<'_>| {
            fault.touches(event.time_us, first.from.time)
                && match fault.kind.impact() {
                    Impact::Kills => fault.names(server),
                    Impact::Freezes => is_of_both(fault),
                    _ => fault.kind == FaultKind::Partition && is_of_both(fault),
                }
        };
        let mut faults: Vec<&FaultSpan<'_>> = timeline.faults.iter().rev().filter(hits).collect();
        faults.sort_by_key(|fault| fault.kind.impact() != Impact::Kills);
        for fault in faults.into_iter().take(2) {
            self.add(Weight::Turn, fault.from.index, begins(fault));
        }
    }

    /// Adds up to two faults that kept servers down after the first waiting call.
    fn broken_connections(&mut self, finding: &Finding) {
        let timeline = self.timeline;
        let waiting = finding.witness.iter().filter_map(|index| {
            let event = &timeline.history.events[*index];
            matches!(event.what, What::Invoke { action: Action::Acquire, .. })
                .then_some(event.time_us)
        });
        let Some(since) = waiting.min() else { return };
        let breaks = |fault: &&FaultSpan<'_>| {
            fault.kind.impact() == Impact::Kills
                && fault.nodes.iter().any(|node| node.is_server())
                && fault.touches(since, finding.at)
        };
        for fault in timeline.faults.iter().rev().filter(breaks).take(2) {
            self.add(Weight::Fault, fault.from.index, begins(fault));
        }
    }

    fn refusals(&mut self, finding: &Finding) {
        let until = finding.at + finding.duration;
        for refusal in self.timeline.refusals() {
            if refusal.from.time <= until && finding.at < refusal.until {
                self.add_event(Weight::Turn, refusal.from.index);
            }
        }
    }

    /// Returns whether replication set and removed the value, so it only repeats the primary's.
    fn is_echo(&self, key: &KeySpan<'_>) -> bool {
        let is_copy = key.by.is_none() && !self.timeline.history.header.has_queue();
        let follows = |(_, end)| match end {
            KeyEnd::Changed { change, by, primary } => {
                change == Change::Removed && by.is_none() && !primary
            }
            KeyEnd::Replaced => false,
        };
        let mut others = self.timeline.keys.iter().filter(|other| other.node != key.node);
        is_copy && key.to.is_some_and(follows) && others.any(|other| other.by.is_some())
    }

    fn orphan_renewal(&mut self, finding: &Finding) {
        let timeline = self.timeline;
        for set in set_again(timeline, finding).iter().flatten().take(2) {
            self.add_event(Weight::Turn, set.from.index);
        }
        let until = finding.at + finding.duration;
        let is_inside = |process: Node, at: Moment| {
            timeline
                .sections
                .iter()
                .any(|section| section.process.machine() == process.machine() && section.covers(at))
        };
        let events = timeline.history.events.iter().enumerate().rev();
        let mut renewals = events.filter_map(|(index, event)| match &event.what {
            What::Server { key, change: Change::Extended, by: Some(by), .. } => {
                let at = timeline.moment(index);
                let is_meanwhile = finding.at <= at.time && at.time <= until;
                let is_of_lock = *key == timeline.history.header.resource;
                let is_renewal = is_of_lock
                    && is_meanwhile
                    && !narrate::is_part_of_grant(timeline.history, event);
                (is_renewal && !is_inside(*by, at)).then_some(index)
            }
            _ => None,
        });
        if let Some(index) = renewals.next() {
            self.add_event(Weight::Turn, index);
        }
    }

    fn unknown_acquire(&mut self, last: &KeySpan<'_>) {
        let events = &self.timeline.history.events;
        let mut before = events[..last.from.index].iter().enumerate().rev();
        let asked = before.find_map(|(index, event)| match event.what {
            What::Invoke { action: Action::Acquire, .. } if Some(event.node) == last.by => {
                Some(index)
            }
            _ => None,
        });
        if let Some(index) = asked {
            self.unknown_outcome(self.timeline.moment(index));
        }
    }

    fn unknown_outcome(&mut self, invoked: Moment) {
        let events = &self.timeline.history.events;
        let What::Invoke { operation: release, .. } = events[invoked.index].what else { return };
        let is_unknown = |what: &What| match what {
            What::Info { operation, .. } => *operation == release,
            _ => false,
        };
        let mut later = (invoked.index..events.len()).filter(|at| is_unknown(&events[*at].what));
        if let Some(at) = later.next() {
            self.faults_of_call(invoked, self.timeline.moment(at));
            self.add_event(Weight::Turn, at);
        }
    }

    /// Adds the last two faults that may have cost a call its answer, and promotions and demotions
    /// shortly before the call. For a release, the time since the process got the lock also counts.
    fn faults_of_call(&mut self, invoked: Moment, given_up: Moment) {
        let timeline = self.timeline;
        let process = timeline.history.events[invoked.index].node;
        let entered = timeline.acquisitions.iter().filter(|one| one.process == process);
        let entered = entered.filter_map(|one| one.completed).filter(|at| *at < invoked).max();
        let is_release = matches!(
            timeline.history.events[invoked.index].what,
            What::Invoke { action: Action::Release, .. }
        );
        let recent = SimTime(invoked.time.0.saturating_sub(RECONNECT.0));
        let since = entered.filter(|_| is_release).map_or(recent, |at| at.time.min(recent));
        let hits = |fault: &&FaultSpan<'_>| match fault.kind.impact() {
            Impact::Kills | Impact::TakesOver | Impact::IsOperated => {
                fault.nodes.iter().any(|node| node.is_server())
                    && fault.from <= given_up
                    && fault.touches(since, given_up.time)
            }
            Impact::BendsClock => false,
            _ => fault.names(process) && fault.touches(invoked.time, given_up.time),
        };
        for fault in timeline.faults.iter().rev().filter(hits).take(2) {
            self.add(Weight::Fault, fault.from.index, begins(fault));
        }
        for index in entered.map_or(invoked.index, |at| at.index)..invoked.index {
            let event = &timeline.history.events[index];
            let is_turn =
                matches!(event.what, What::Turn { turn: Turn::Promoted | Turn::Demoted, .. });
            if is_turn && since <= event.time_us {
                self.add_event(Weight::Turn, index);
            }
        }
    }
}

/// Returns the grant that a copy of a value belongs to, if one primary made all earlier grants of
/// the value. A replica copies grants in order, so its nth copy belongs to the nth grant.
fn copied_from<'t, 'h>(timeline: &'t Timeline<'h>, copy: &KeySpan<'_>) -> Option<&'t KeySpan<'h>> {
    let same = || timeline.keys.iter().filter(|key| key.value == copy.value);
    let copies = same().filter(|key| key.node == copy.node && key.by.is_none());
    let place = copies.filter(|key| key.from < copy.from).count();
    let mut granted: Vec<&KeySpan<'_>> =
        same().filter(|key| key.node != copy.node && key.by.is_some()).collect();
    granted.sort_by_key(|key| key.from);
    let primary = granted.first()?.node;
    let of_one = granted.iter().all(|key| key.node == primary || copy.from < key.from);
    granted.get(place).copied().filter(|key| of_one && key.from < copy.from)
}
