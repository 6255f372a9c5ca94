//! The periods in which servers were primaries, and the primaries that Sentinels named.

use super::{Moment, moments};
use crate::record::history::{Change, History, Turn, What};
use fencepost_faults::{FaultKind, Micros, Node, SimTime};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Default, Debug)]
pub struct Roles {
    primaries: Vec<Primary>,
    named: Vec<(SimTime, Node, Node)>,
    /// `true` if the history records roles, `false` if only changes of keys show them.
    are_recorded: bool,
}

#[derive(Clone, Copy, Debug)]
struct Primary {
    node: Node,
    since: Option<Moment>,
    until: Option<Moment>,
}

impl Roles {
    /// Also derives roles from changes of keys, because not every history records roles.
    pub(super) fn new(history: &History) -> Roles {
        let mut roles = Roles::default();
        let mut replicas = BTreeSet::new();
        for (moment, event) in moments(history) {
            let node = event.node;
            roles.are_recorded |= records_role(&event.what);
            match &event.what {
                What::Turn { turn: Turn::Names, about: Some(about) } => {
                    roles.named.push((moment.time, node, *about));
                }
                What::Turn { turn: Turn::Promoted, .. } => roles.begin(node, Some(moment)),
                // Only Redis servers record roles; others are promoted by a `Promote` fault.
                What::FaultBegan { kind: FaultKind::Promote, nodes, .. } => {
                    let promoted = nodes.iter().filter(|node| matches!(node, Node::Server(_)));
                    promoted.for_each(|node| roles.begin(*node, Some(moment)));
                }
                What::Turn { turn: Turn::Unaware, .. } => roles.begin(node, None),
                // A restarted server records the keys that it lost or loaded before it learns its
                // role, so these records do not show that it is a primary.
                What::Server {
                    change: Change::Forgotten | Change::Restored,
                    primary: true,
                    ..
                } => {}
                What::Server { primary: true, .. } => {
                    roles.begin(node, replicas.contains(&node).then_some(moment));
                }
                What::Turn { turn: Turn::Demoted, .. } => {
                    if roles.primaries.iter().all(|one| one.node != node) {
                        roles.begin(node, None);
                    }
                    roles.end(node, moment);
                    replicas.insert(node);
                }
                What::Server { primary: false, .. } => {
                    roles.end(node, moment);
                    replicas.insert(node);
                }
                _ => {}
            }
        }
        roles
    }

    fn open(&mut self, node: Node) -> Option<&mut Primary> {
        self.primaries.iter_mut().find(|one| one.node == node && one.until.is_none())
    }

    fn begin(&mut self, node: Node, since: Option<Moment>) {
        if self.open(node).is_none() {
            self.primaries.push(Primary { node, since, until: None });
        }
    }

    fn end(&mut self, node: Node, until: Moment) {
        if let Some(open) = self.open(node) {
            open.until = Some(until);
        }
    }

    /// Returns when a server that was a primary at `at` had been promoted; `None` for a replica or
    /// an initial primary.
    pub(crate) fn promoted(&self, node: Node, at: Moment) -> Option<Moment> {
        let is_then = |one: &&Primary| {
            one.since.is_none_or(|since| since <= at) && one.until.is_none_or(|until| at < until)
        };
        self.primaries.iter().filter(is_then).find(|one| one.node == node)?.since
    }

    /// Returns `true` if another server had become the primary in place of this one by `at`, even
    /// if this one did not know it.
    pub(crate) fn is_replaced(&self, node: Node, at: Moment) -> bool {
        let own = self.promoted(node, at);
        self.primaries.iter().any(|other| {
            other.node != node
                && other.since.is_some_and(|since| since <= at && own < Some(since))
                && other.until.is_none_or(|until| at < until)
        })
    }

    /// Returns the parts of a period in which the server was a primary. A server without recorded
    /// roles counts as a primary only if no server has recorded roles.
    pub(crate) fn as_primary(
        &self,
        node: Node,
        (from, until): (SimTime, SimTime),
    ) -> Vec<(SimTime, SimTime)> {
        if self.primaries.is_empty() {
            return vec![(from, until)];
        }
        let own = self.primaries.iter().filter(|one| one.node == node);
        let part = |one: &Primary| {
            let since = one.since.map_or(from, |since| since.time.max(from));
            (since, one.until.map_or(until, |to| to.time.min(until)))
        };
        own.map(part).filter(|(from, until)| from < until).collect()
    }

    pub(crate) fn without_primary(&self, from: SimTime, until: SimTime) -> Micros {
        self.sum(from, until, |at| self.primaries_at(at).next().is_none())
    }

    pub(crate) fn misnamed(&self, from: SimTime, until: SimTime) -> Micros {
        let Some(first) = self.primaries.iter().find(|one| one.since.is_none()) else {
            return Micros::ZERO;
        };
        self.sum(from, until, |at| {
            let mut named: BTreeMap<Node, Node> = BTreeMap::new();
            for (since, sentinel, about) in &self.named {
                let about = if *since <= at { *about } else { first.node };
                if *since <= at || !named.contains_key(sentinel) {
                    named.insert(*sentinel, about);
                }
            }
            let primaries: Vec<Node> = self.primaries_at(at).collect();
            !named.is_empty() && named.values().all(|about| !primaries.contains(about))
        })
    }

    fn primaries_at(&self, at: SimTime) -> impl Iterator<Item = Node> {
        let is_then = move |one: &&Primary| {
            one.since.is_none_or(|since| since.time <= at)
                && one.until.is_none_or(|until| at < until.time)
        };
        self.primaries.iter().filter(is_then).map(|one| one.node)
    }

    fn sum(&self, from: SimTime, until: SimTime, holds: impl Fn(SimTime) -> bool) -> Micros {
        if !self.are_recorded || self.primaries.iter().all(|one| one.since.is_some()) {
            return Micros::ZERO;
        }
        let turns = self.primaries.iter().flat_map(|one| [one.since, one.until]).flatten();
        let turns = turns.map(|turn| turn.time).chain(self.named.iter().map(|(at, ..)| *at));
        let mut cuts: Vec<SimTime> = turns.filter(|at| from < *at && *at < until).collect();
        cuts.extend([from, until]);
        cuts.sort_unstable();
        let spans = cuts.windows(2).filter(|span| holds(span[0]));
        spans.fold(Micros::ZERO, |sum, span| sum + span[1].since(span[0]))
    }
}

fn records_role(what: &What) -> bool {
    match what {
        What::Turn { turn, .. } => {
            matches!(turn, Turn::Promoted | Turn::Demoted | Turn::Unaware | Turn::Names)
        }
        What::FaultBegan { kind, .. } => *kind == FaultKind::Promote,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    fn turned(story: Story, ms: u64, redis: u16, turn: Turn) -> Story {
        story.event(ms, Node::Redis(redis), What::Turn { turn, about: Some(Node::Redis(1)) })
    }

    fn names(story: Story, ms: u64, redis: u16) -> Story {
        let what = What::Turn { turn: Turn::Names, about: Some(Node::Redis(redis)) };
        story.event(ms, Node::Sentinel(1), what)
    }

    #[test]
    fn a_primary_is_replaced_when_another_is_promoted_after_it() {
        let history = turned(Story::new().takes(1, 1, "a"), 5, 2, Turn::Promoted);
        let history = turned(turned(history, 5, 1, Turn::Unaware), 9, 3, Turn::Promoted).build();
        let roles = Roles::new(&history);
        let of = |at_ms: u64| {
            let time = SimTime(at_ms * 1_000);
            let at = Moment { time, index: history.events.len() };
            [1, 2, 3].map(|redis| roles.is_replaced(Node::Redis(redis), at))
        };
        assert_eq!(of(4), [false; 3]);
        assert_eq!(of(6), [true, false, true], "the third is a replica of the second");
        assert_eq!(of(9), [true, true, false]);
    }

    fn roles(story: Story) -> Roles {
        Roles::new(&story.build())
    }

    fn at(ms: u64) -> SimTime {
        SimTime(ms * 1_000)
    }

    #[test]
    fn a_server_is_a_primary_from_its_recorded_promotion_on_and_not_from_its_first_key() {
        let story = turned(Story::new().takes(1, 1, "a"), 5, 2, Turn::Promoted);
        let roles = roles(story.grants_at(9, 2, 2, "b"));
        let promoted = |redis, ms| {
            let moment = Moment { time: at(ms), index: usize::MAX };
            roles.promoted(Node::Redis(redis), moment).map(|moment| moment.time)
        };
        assert_eq!([promoted(1, 9), promoted(2, 4), promoted(2, 6)], [None, None, Some(at(5))]);
    }

    #[test]
    fn a_restarted_replica_that_has_lost_a_key_was_not_promoted_then() {
        let starts = |change: Change| {
            let story = Story::new().takes(1, 1, "a").replicated(2, 2, "a").redis_crashes(3, 2);
            let story = story.redis_starts(4, 2).server(4, 2, change, "a", None);
            let roles = roles(turned(story, 8, 2, Turn::Promoted).grants_at(9, 2, 2, "b"));
            let moment = |ms| Moment { time: at(ms), index: usize::MAX };
            [5, 9].map(|ms| roles.promoted(Node::Redis(2), moment(ms)).map(|moment| moment.time))
        };
        for change in [Change::Forgotten, Change::Restored] {
            assert_eq!(starts(change), [None, Some(at(8))], "{change:?}");
        }
        assert_eq!(starts(Change::Flushed), [Some(at(4)); 2], "only a primary flushes its keys");
    }

    #[test]
    fn a_database_is_a_primary_from_the_fault_on_that_promotes_it() {
        let standby = Node::Server(2);
        let story = Story::new().fault_began(5, 1, "promote", &[standby]);
        let by = Some(Node::Client(2));
        let (key, value) = ("lock".to_owned(), Some("b".to_owned()));
        let change = Change::Granted;
        let what =
            What::Server { key, change, value, by, primary: true, token: None, lease_us: None };
        let roles = roles(story.event(9, standby, what));
        let end = Moment { time: at(9), index: usize::MAX };
        assert_eq!(roles.promoted(standby, end).map(|moment| moment.time), Some(at(5)));
    }

    #[test]
    fn time_without_a_primary_is_that_between_a_demotion_and_a_promotion() {
        let story = turned(turned(Story::new(), 5, 1, Turn::Demoted), 9, 2, Turn::Promoted);
        let roles = roles(story);
        assert_eq!(roles.without_primary(at(0), at(20)), Micros::from_millis(4));
        assert_eq!(roles.without_primary(at(7), at(8)), Micros::from_millis(1));
    }

    #[test]
    fn a_leader_that_only_restarts_leaves_no_time_without_a_primary() {
        let story = Story::with_sessions().takes(1, 1, "a").replicated(1, 2, "a");
        let story = story.redis_crashes(5, 1).redis_starts(6, 1);
        let story = story.removed_on_replica(7, 1, "a").removed_on_replica(7, 2, "a");
        assert_eq!(roles(story).without_primary(at(0), at(90)), Micros::ZERO);
    }

    #[test]
    fn a_sentinel_that_still_names_a_replica_leads_nobody_to_the_primary() {
        let story = turned(turned(Story::new(), 5, 2, Turn::Promoted), 5, 1, Turn::Demoted);
        let roles = roles(names(story, 9, 2));
        assert_eq!(roles.without_primary(at(0), at(20)), Micros::ZERO);
        assert_eq!(roles.misnamed(at(0), at(20)), Micros::from_millis(4));
    }
}
