//! Translates notices of servers and Sentinels into events, such as promotions and refused writes.

use fencepost_faults::Node;
use fencepost_machine::Notice;
use fencepost_reports::Turn;
use std::collections::{BTreeMap, BTreeSet};

type Part = Option<Node>;

#[derive(Default)]
pub(super) struct Parts {
    known: BTreeMap<Node, Part>,
    up: BTreeSet<Node>,
    synchronised: BTreeSet<Node>,
    promoted: Option<Node>,
}

pub(super) type RoleChange = (Node, Turn, Option<Node>);

impl Parts {
    pub(super) fn crashed(&mut self, node: Node) {
        self.up.remove(&node);
    }

    pub(super) fn follow(&mut self, node: Node, notice: &Notice) -> Vec<RoleChange> {
        let named = |host: &str| host.parse::<Node>().ok();
        match notice {
            Notice::Leads => self.leads(node),
            Notice::Follows { host } => self.follows(node, named(host)),
            Notice::TookOver { host } => match self.synchronised.insert(node) {
                true => Vec::new(),
                false => vec![(node, Turn::TookOver, named(host))],
            },
            Notice::Names { host } => vec![(node, Turn::Names, named(host))],
            Notice::Writes { refused: true } => vec![(node, Turn::RefusesWrites, None)],
            Notice::Writes { refused: false } => vec![(node, Turn::TakesWrites, None)],
            Notice::Down { host, objectively, is_down } => {
                let turn = match (objectively, is_down) {
                    (false, true) => Turn::SubjectivelyDown,
                    (false, false) => Turn::SubjectivelyUp,
                    (true, true) => Turn::ObjectivelyDown,
                    (true, false) => Turn::ObjectivelyUp,
                };
                vec![(node, turn, named(host))]
            }
        }
    }

    fn leads(&mut self, node: Node) -> Vec<RoleChange> {
        let before = self.known.insert(node, None);
        let is_promoted = matches!(before, Some(Some(_)));
        if is_promoted {
            self.promoted = Some(node);
        }
        let is_back = before.is_some() && self.up.insert(node) && !is_promoted;
        self.up.insert(node);
        let others = || {
            let leads = |one: &&Node| **one != node && self.known.get(one) == Some(&None);
            self.up.iter().filter(leads).copied()
        };
        let mut told = Vec::new();
        if is_promoted {
            told.push((node, Turn::Promoted, None));
            told.extend(others().map(|other| (other, Turn::Unaware, Some(node))));
        } else if is_back && self.promoted != Some(node) {
            let latest = others().filter(|other| Some(*other) == self.promoted);
            told.extend(latest.map(|other| (node, Turn::Unaware, Some(other))));
        }
        told
    }

    fn follows(&mut self, node: Node, primary: Option<Node>) -> Vec<RoleChange> {
        self.up.insert(node);
        match self.known.insert(node, primary) {
            Some(None) => vec![(node, Turn::Demoted, primary)],
            Some(before) if before != primary => vec![(node, Turn::Follows, primary)],
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Node = Node::Redis(1);
    const TWO: Node = Node::Redis(2);

    fn pair() -> Parts {
        let mut parts = Parts::default();
        assert_eq!(parts.follow(ONE, &Notice::Leads), []);
        assert_eq!(parts.follow(TWO, &follows("redis-1")), []);
        assert_eq!(parts.follow(TWO, &Notice::TookOver { host: "redis-1".to_owned() }), []);
        parts
    }

    fn follows(host: &str) -> Notice {
        Notice::Follows { host: host.to_owned() }
    }

    #[test]
    fn a_primary_that_lives_does_not_know_of_the_one_that_replaced_it_until_it_is_demoted() {
        let mut parts = pair();
        assert_eq!(
            parts.follow(TWO, &Notice::Leads),
            [(TWO, Turn::Promoted, None), (ONE, Turn::Unaware, Some(TWO))]
        );
        assert_eq!(parts.follow(ONE, &follows("redis-2")), [(ONE, Turn::Demoted, Some(TWO))]);
        let took_over = Notice::TookOver { host: "redis-2".to_owned() };
        assert_eq!(parts.follow(ONE, &took_over), []);
        assert_eq!(parts.follow(ONE, &took_over), [(ONE, Turn::TookOver, Some(TWO))]);
    }

    #[test]
    fn a_dead_primary_learns_nothing_and_is_unaware_when_it_comes_back() {
        let mut parts = pair();
        parts.crashed(ONE);
        assert_eq!(parts.follow(TWO, &Notice::Leads), [(TWO, Turn::Promoted, None)]);
        assert_eq!(parts.follow(ONE, &Notice::Leads), [(ONE, Turn::Unaware, Some(TWO))]);
        parts.crashed(TWO);
        assert_eq!(parts.follow(TWO, &Notice::Leads), [], "it was promoted last");
    }

    #[test]
    fn independent_masters_are_primaries_without_a_word() {
        let mut parts = Parts::default();
        for node in [ONE, TWO] {
            assert_eq!(parts.follow(node, &Notice::Leads), []);
        }
        parts.crashed(ONE);
        assert_eq!(parts.follow(ONE, &Notice::Leads), []);
    }

    #[test]
    fn sentinels_are_told_of_as_they_are() {
        let down = Notice::Down { host: "redis-1".to_owned(), objectively: true, is_down: true };
        let sentinel = Node::Sentinel(1);
        assert_eq!(
            Parts::default().follow(sentinel, &down),
            [(sentinel, Turn::ObjectivelyDown, Some(ONE))]
        );
    }
}
