//! A set of strings with a score each, in the order of scores. Must never know keys or commands.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::cmp::Ordering;

/// Redis keeps sorted sets up to this many members as a list: `zset-max-listpack-entries`.
const LISTED_MEMBERS_MAX: usize = 128;
/// Redis keeps sorted sets with members up to this long as a list: `zset-max-listpack-value`.
const LISTED_LENGTH_MAX: usize = 64;

/// A sorted set; never empty while it is in a keyspace. Scores are never NaN.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct SortedSet {
    scores: IndexMap<Box<[u8]>, f64, FxBuildHasher>,
    /// By score, then by member.
    order: Vec<(f64, Box<[u8]>)>,
    bytes: usize,
    /// Whether it was ever too big for a listpack; it never goes back.
    is_large: bool,
}

/// Scores are never NaN.
impl Eq for SortedSet {}

fn compare((score, member): (f64, &[u8]), (other_score, other): (f64, &[u8])) -> Ordering {
    score.partial_cmp(&other_score).unwrap_or(Ordering::Equal).then_with(|| member.cmp(other))
}

impl SortedSet {
    /// How many members there are.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether it is small enough to be kept as a list.
    pub(crate) fn is_listed(&self) -> bool {
        !self.is_large
    }

    /// About how many bytes it takes.
    pub(super) fn memory(&self) -> usize {
        64 + 2 * self.bytes + 72 * self.len()
    }

    /// The score of a member.
    pub(crate) fn score(&self, member: &[u8]) -> Option<f64> {
        self.scores.get(member).copied()
    }

    /// How many members come before this one.
    pub(crate) fn rank(&self, member: &[u8]) -> Option<usize> {
        self.place(self.score(member)?, member).ok()
    }

    fn place(&self, score: f64, member: &[u8]) -> Result<usize, usize> {
        self.order.binary_search_by(|(other_score, other)| {
            compare((*other_score, other), (score, member))
        })
    }

    /// Member and score at a rank.
    pub(crate) fn at(&self, rank: usize) -> Option<(&[u8], f64)> {
        self.order.get(rank).map(|(score, member)| (&**member, *score))
    }

    /// Member and score at a place that stays the same until a member is removed, when the last one
    /// takes its place.
    pub(crate) fn at_place(&self, place: usize) -> Option<(&[u8], f64)> {
        self.scores.get_index(place).map(|(member, score)| (&**member, *score))
    }

    /// All members with their scores, the least first.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], f64)> {
        self.order.iter().map(|(score, member)| (&**member, *score))
    }

    /// The first rank for which `is_reached` holds; it must hold for all that follow.
    pub(crate) fn first_rank(&self, is_reached: impl Fn(&[u8], f64) -> bool) -> usize {
        self.order.partition_point(|(score, member)| !is_reached(member, *score))
    }

    /// Gives a member this score; the score that it had, if it was one.
    pub(crate) fn set(&mut self, member: &[u8], score: f64) -> Option<f64> {
        let old = match self.scores.get_mut(member) {
            Some(place) => Some(std::mem::replace(place, score)),
            None => {
                self.scores.insert(member.into(), score);
                self.bytes += member.len();
                None
            }
        };
        if old == Some(score) {
            return old;
        }
        if let Some(place) = old.and_then(|old| self.place(old, member).ok()) {
            self.order.remove(place);
        }
        let (Ok(place) | Err(place)) = self.place(score, member);
        self.order.insert(place, (score, member.into()));
        self.is_large |= self.order.len() > LISTED_MEMBERS_MAX || member.len() > LISTED_LENGTH_MAX;
        old
    }

    /// Removes a member; false if it is none.
    pub(crate) fn remove(&mut self, member: &[u8]) -> bool {
        let Some(rank) = self.rank(member) else { return false };
        self.remove_ranks(rank..rank + 1);
        true
    }

    /// Removes the members at these ranks, which must exist.
    pub(crate) fn remove_ranks(&mut self, ranks: std::ops::Range<usize>) {
        for (_, member) in self.order.drain(ranks) {
            self.bytes -= member.len();
            self.scores.swap_remove(&member);
        }
    }
}
