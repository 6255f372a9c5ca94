//! The wrong clocks of a scene.

use super::{Scene, names};
use crate::explain::evidence::{begins_with_unix_time, early_loss};
use crate::judge::timeline::{FaultSpan, KeyEnd, Moment};
use crate::record::history::Change;
use crate::record::listed::listed;
use fencepost_faults::{FaultKind, Node};
use std::collections::BTreeSet;

impl<'t, 'h> Scene<'t, 'h> {
    pub(in crate::explain) fn clock(&self, kind: FaultKind, verb: &str, when: &str) -> String {
        match &self.wrong_clocks(kind)[..] {
            [] => format!("The clock of a host {verb}"),
            [fault] => format!(
                "The clock of {} {verb} {when} {} (fault {})",
                names(fault.nodes),
                fault.from.time,
                fault.id
            ),
            faults => {
                let nodes: BTreeSet<Node> =
                    faults.iter().flat_map(|fault| fault.nodes).copied().collect();
                let nodes: Vec<Node> = nodes.into_iter().collect();
                let numbers: Vec<String> =
                    faults.iter().map(|fault| fault.id.to_string()).collect();
                let (verb, numbers) = (verb.replace("was ", "were "), numbers.join(", "));
                format!("The clocks of {} {verb} (faults {numbers})", listed(&nodes, "and"))
            }
        }
    }

    /// Returns the clock faults that explain the end of the lock. With several masters, prefers
    /// faults of masters that expired the lock before they granted it to the taker.
    pub(in crate::explain) fn wrong_clocks(&self, kind: FaultKind) -> Vec<&'t FaultSpan<'h>> {
        let (timeline, taken) = (self.timeline, self.taker.grant.as_ref());
        let taken = taken.filter(|_| timeline.history.header.quorum > 1);
        let expired = timeline.keys_of(self.holder).filter_map(|key| match key.to? {
            (at, KeyEnd::Changed { change: Change::Expired, .. }) => Some((key.node, at)),
            _ => None,
        });
        let ends: Vec<(Node, Moment)> = expired.collect();
        let decides = |fault: &&FaultSpan<'_>| {
            let gave = |server: Node, at: Moment| {
                taken.is_some_and(|grant| {
                    at < grant.moment && grant.servers.iter().any(|(node, _)| *node == server)
                })
            };
            let is_since_grant = |server: Node| {
                let mut held = self.holder.grant.iter().flat_map(|grant| &grant.servers);
                held.any(|(node, granted)| *node == server && *granted < fault.from)
            };
            // A clock step before the grant does not change the lease.
            let ended = |(server, at): &(Node, Moment)| {
                fault.names(*server)
                    && fault.from < *at
                    && gave(*server, *at)
                    && (kind != FaultKind::ClockJump || is_since_grant(*server))
            };
            fault.kind == kind && ends.iter().any(ended)
        };
        let faults: Vec<&FaultSpan<'_>> = timeline.faults.iter().filter(decides).collect();
        match faults.is_empty() {
            true => self.wrong_clock(kind).into_iter().collect(),
            false => faults,
        }
    }

    pub(in crate::explain) fn wrong_clock(&self, kind: FaultKind) -> Option<&'t FaultSpan<'h>> {
        let losses = early_loss::of_clash(self.timeline, self.clash);
        let mut lost = losses
            .iter()
            .flat_map(|loss| [&loss.at_granting_server, &loss.at_taking_server])
            .flatten();
        let decided = lost.find_map(|loss| loss.wrong_clock(kind));
        let faults = || {
            let faults = self.timeline.faults.iter().rev();
            faults.filter(|fault| fault.kind == kind && fault.from.time <= self.at)
        };
        let is_expiry = |how| match how {
            KeyEnd::Changed { change, .. } => change == Change::Expired,
            KeyEnd::Replaced => true,
        };
        let expired = self.servers_where(is_expiry);
        let decides = |fault: &&FaultSpan<'_>| expired.iter().any(|server| fault.names(*server));
        let relevant =
            |fault: &&FaultSpan<'_>| fault.nodes.iter().any(|machine| self.involves(*machine));
        decided.or_else(|| faults().find(decides)).or_else(|| faults().find(relevant))
    }

    /// Returns the process that replaced the lock when its wrong clock passed the value's time.
    pub(in crate::explain) fn replaced_by_clock(&self, kind: FaultKind) -> Option<Node> {
        let (at, _) = self.gone()?;
        let replaced = self.timeline.keys.iter().find(|key| key.to == Some((at, KeyEnd::Replaced)));
        let is_of_process = replaced
            .filter(|key| begins_with_unix_time(key))
            .is_some_and(|key| self.wrong_clock(kind).is_some_and(|fault| !fault.names(key.node)));
        self.timeline.replacer(at).filter(|_| is_of_process)
    }
}
