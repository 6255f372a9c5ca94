//! A weight-balanced tree after Adams ("Efficient sets: a balancing act", 1993) with the parameters
//! (3, 2), which Hirai and Yamamoto proved correct in 2011.

use std::cmp::Ordering;
use std::ops::Range;

type Tree = Option<u32>;

/// Maximum ratio between the weights of two siblings.
const DELTA: usize = 3;
/// Minimum ratio of the inner to the outer grandchild's weight for a double rotation.
const RATIO: usize = 2;

#[derive(Clone, Debug)]
struct Node {
    score: f64,
    member: Box<[u8]>,
    left: Tree,
    right: Tree,
    count: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Ranked {
    nodes: Vec<Node>,
    root: Tree,
    free: Vec<u32>,
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Ranked) -> bool {
        self.iter().eq(other.iter())
    }
}

fn compare((score, member): (f64, &[u8]), (other_score, other): (f64, &[u8])) -> Ordering {
    score.partial_cmp(&other_score).unwrap_or(Ordering::Equal).then_with(|| member.cmp(other))
}

impl Ranked {
    pub(super) fn len(&self) -> usize {
        self.count(self.root)
    }

    /// Returns the first rank for which `is_reached` holds; it must hold for all later ranks.
    pub(super) fn first_rank(&self, is_reached: impl Fn(&[u8], f64) -> bool) -> usize {
        let (mut at, mut before) = (self.root, 0);
        while let Some(place) = at {
            let node = self.node(place);
            if is_reached(&node.member, node.score) {
                at = node.left;
            } else {
                before += self.count(node.left) + 1;
                at = node.right;
            }
        }
        before
    }

    pub(super) fn rank(&self, score: f64, member: &[u8]) -> usize {
        self.first_rank(|other, other_score| {
            compare((other_score, other), (score, member)) != Ordering::Less
        })
    }

    pub(super) fn at(&self, mut rank: usize) -> Option<(&[u8], f64)> {
        let mut at = self.root;
        while let Some(place) = at {
            let node = self.node(place);
            let before = self.count(node.left);
            match rank.cmp(&before) {
                Ordering::Less => at = node.left,
                Ordering::Equal => return Some((&node.member, node.score)),
                Ordering::Greater => (at, rank) = (node.right, rank - before - 1),
            }
        }
        None
    }

    pub(super) fn iter(&self) -> Iter<'_> {
        let mut iter = Iter { ranked: self, above: Vec::new(), left: self.len() };
        iter.descend(self.root);
        iter
    }

    pub(super) fn insert(&mut self, score: f64, member: Box<[u8]>) {
        let node = Node { score, member, left: None, right: None, count: 1 };
        let place = match self.free.pop() {
            Some(place) => {
                self.nodes[place as usize] = node;
                place
            }
            None => {
                self.nodes.push(node);
                u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 members fit in memory")
            }
        };
        self.root = Some(self.inserted(self.root, place));
    }

    pub(super) fn remove(&mut self, ranks: Range<usize>, mut hand_on: impl FnMut(&[u8])) {
        for _ in ranks.clone() {
            let (rest, place) = self.without(self.root, ranks.start);
            self.root = rest;
            let member = std::mem::take(&mut self.nodes[place as usize].member);
            self.free.push(place);
            hand_on(&member);
        }
    }

    fn node(&self, place: u32) -> &Node {
        &self.nodes[place as usize]
    }

    fn count(&self, tree: Tree) -> usize {
        tree.map_or(0, |place| self.node(place).count)
    }

    fn weight(&self, tree: Tree) -> usize {
        self.count(tree) + 1
    }

    fn inserted(&mut self, tree: Tree, new: u32) -> u32 {
        let Some(root) = tree else { return new };
        let (node, added) = (self.node(root), self.node(new));
        let (left, right) = (node.left, node.right);
        match compare((added.score, &added.member), (node.score, &node.member)) {
            Ordering::Less => {
                let left = self.inserted(left, new);
                self.balanced(root, Some(left), right)
            }
            _ => {
                let right = self.inserted(right, new);
                self.balanced(root, left, Some(right))
            }
        }
    }

    fn without(&mut self, tree: Tree, rank: usize) -> (Tree, u32) {
        let root = tree.expect("the rank exists");
        let (left, right) = (self.node(root).left, self.node(root).right);
        let before = self.count(left);
        match rank.cmp(&before) {
            Ordering::Less => {
                let (left, removed) = self.without(left, rank);
                (Some(self.balanced(root, left, right)), removed)
            }
            Ordering::Greater => {
                let (right, removed) = self.without(right, rank - before - 1);
                (Some(self.balanced(root, left, right)), removed)
            }
            Ordering::Equal => (self.joined(left, right), root),
        }
    }

    fn joined(&mut self, left: Tree, right: Tree) -> Tree {
        match (left, right) {
            (None, only) | (only, None) => only,
            _ if self.count(left) > self.count(right) => {
                let (left, root) = self.without(left, self.count(left) - 1);
                Some(self.balanced(root, left, right))
            }
            _ => {
                let (right, root) = self.without(right, 0);
                Some(self.balanced(root, left, right))
            }
        }
    }

    /// Joins two trees under a root, and rebalances them after at most one insertion or removal.
    fn balanced(&mut self, root: u32, left: Tree, right: Tree) -> u32 {
        if self.weight(right) > DELTA * self.weight(left) {
            self.turned_left(root, left, right)
        } else if self.weight(left) > DELTA * self.weight(right) {
            self.turned_right(root, left, right)
        } else {
            self.rooted(root, left, right)
        }
    }

    fn rooted(&mut self, root: u32, left: Tree, right: Tree) -> u32 {
        let count = self.count(left) + self.count(right) + 1;
        let node = &mut self.nodes[root as usize];
        (node.left, node.right, node.count) = (left, right, count);
        root
    }

    fn turned_left(&mut self, root: u32, left: Tree, right: Tree) -> u32 {
        let pivot = right.expect("the heavier side is not empty");
        let (inner, outer) = (self.node(pivot).left, self.node(pivot).right);
        if self.weight(inner) < RATIO * self.weight(outer) {
            let below = self.rooted(root, left, inner);
            return self.rooted(pivot, Some(below), outer);
        }
        let top = inner.expect("the heavier side is not empty");
        let (first, second) = (self.node(top).left, self.node(top).right);
        let (below, beside) = (self.rooted(root, left, first), self.rooted(pivot, second, outer));
        self.rooted(top, Some(below), Some(beside))
    }

    fn turned_right(&mut self, root: u32, left: Tree, right: Tree) -> u32 {
        let pivot = left.expect("the heavier side is not empty");
        let (outer, inner) = (self.node(pivot).left, self.node(pivot).right);
        if self.weight(inner) < RATIO * self.weight(outer) {
            let below = self.rooted(root, inner, right);
            return self.rooted(pivot, outer, Some(below));
        }
        let top = inner.expect("the heavier side is not empty");
        let (first, second) = (self.node(top).left, self.node(top).right);
        let (beside, below) = (self.rooted(pivot, outer, first), self.rooted(root, second, right));
        self.rooted(top, Some(beside), Some(below))
    }
}

pub(super) struct Iter<'r> {
    ranked: &'r Ranked,
    above: Vec<u32>,
    left: usize,
}

impl Iter<'_> {
    fn descend(&mut self, mut tree: Tree) {
        while let Some(place) = tree {
            self.above.push(place);
            tree = self.ranked.node(place).left;
        }
    }
}

impl<'r> Iterator for Iter<'r> {
    type Item = (&'r [u8], f64);

    fn next(&mut self) -> Option<(&'r [u8], f64)> {
        let node = self.ranked.node(self.above.pop()?);
        self.left -= 1;
        self.descend(node.right);
        Some((&node.member, node.score))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(member: &[u8]) -> u32 {
        String::from_utf8_lossy(member).parse().unwrap()
    }

    fn add(ranked: &mut Ranked, score: f64, number: u32) {
        ranked.insert(score, number.to_string().into_bytes().into());
    }

    fn depth(ranked: &Ranked, tree: Tree) -> usize {
        let Some(place) = tree else { return 0 };
        let (left, right) = (ranked.node(place).left, ranked.node(place).right);
        let (one, other) = (ranked.weight(left), ranked.weight(right));
        assert!(one <= DELTA * other && other <= DELTA * one, "{one} beside {other}");
        assert_eq!(ranked.node(place).count, one + other - 1);
        1 + depth(ranked, left).max(depth(ranked, right))
    }

    #[test]
    fn no_order_of_insertions_makes_it_deep() {
        let orders: [fn(u32) -> u32; 3] = [
            |turn| turn,
            |turn| 100_000 - turn,
            |turn| if turn % 2 == 0 { turn } else { 200_000 - turn },
        ];
        for order in orders {
            let mut ranked = Ranked::default();
            (0..50_000).for_each(|turn| add(&mut ranked, f64::from(order(turn)), turn));
            let depth = depth(&ranked, ranked.root);
            assert!(depth <= 38, "{depth} for 50,000: 2.41 * log2 is the bound");
        }
    }

    proptest! {
        #[test]
        fn it_is_a_sorted_list(
            steps in proptest::collection::vec((0..5_u32, 0..40_u32, 0..9_u32), 0..200),
        ) {
            let (mut ranked, mut list) = (Ranked::default(), Vec::<(u32, String)>::new());
            for (turn, (kind, choice, score)) in (0..).zip(steps) {
                let length = list.len();
                if kind == 0 && length > 0 {
                    let start = choice as usize % length;
                    let end = (start + score as usize).min(length);
                    let mut handed_on = Vec::new();
                    ranked.remove(start..end, |member| handed_on.push(number(member)));
                    let drained = list.drain(start..end).map(|(_, member)| member.parse().unwrap());
                    prop_assert_eq!(handed_on, drained.collect::<Vec<u32>>());
                } else {
                    add(&mut ranked, f64::from(score), turn);
                    list.push((score, turn.to_string()));
                    list.sort();
                }
                depth(&ranked, ranked.root);
                prop_assert_eq!(ranked.len(), list.len());
                let told = ranked.iter().map(|(member, score)| (score as u32, number(member)));
                let told: Vec<_> = told.collect();
                let known = list.iter().map(|(score, member)| (*score, member.parse().unwrap()));
                let known: Vec<_> = known.collect();
                prop_assert_eq!(told, known);
                for (rank, (score, member)) in list.iter().enumerate() {
                    prop_assert_eq!(ranked.rank(f64::from(*score), member.as_bytes()), rank);
                    prop_assert_eq!(ranked.at(rank), Some((member.as_bytes(), f64::from(*score))));
                }
                prop_assert_eq!(ranked.at(list.len()), None);
            }
        }
    }
}
