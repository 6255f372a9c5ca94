//! A set of strings with a score each, in the order of scores.

use super::ranked::Ranked;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Redis keeps sorted sets up to this many members as a list: `zset-max-listpack-entries`.
const LISTED_MEMBERS_MAX: usize = 128;
/// Redis keeps sorted sets with members up to this long as a list: `zset-max-listpack-value`.
const LISTED_LENGTH_MAX: usize = 64;

/// A sorted set; never empty while it is in a keyspace. Scores are never NaN.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct SortedSet {
    scores: IndexMap<Box<[u8]>, f64, FxBuildHasher>,
    order: Ranked,
    bytes: usize,
    /// Whether it was ever too big for a listpack; it never goes back.
    is_large: bool,
}

/// Scores are never NaN.
impl Eq for SortedSet {}

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
        Some(self.order.rank(self.score(member)?, member))
    }

    /// Member and score at a rank.
    pub(crate) fn at(&self, rank: usize) -> Option<(&[u8], f64)> {
        self.order.at(rank)
    }

    /// Member and score at a place that stays the same until a member is removed, when the last one
    /// takes its place.
    pub(crate) fn at_place(&self, place: usize) -> Option<(&[u8], f64)> {
        self.scores.get_index(place).map(|(member, score)| (&**member, *score))
    }

    /// All members with their scores, the least first.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], f64)> {
        self.order.iter()
    }

    /// The first rank for which `is_reached` holds; it must hold for all that follow.
    pub(crate) fn first_rank(&self, is_reached: impl Fn(&[u8], f64) -> bool) -> usize {
        self.order.first_rank(is_reached)
    }

    /// Gives a member this score; the score that it had, if it was one.
    pub(crate) fn set(&mut self, member: &[u8], score: f64) -> Option<f64> {
        let old = match self.scores.get_mut(member) {
            // A zero stays the zero that it is: 0 and -0 are equal.
            Some(place) if *place == score => return Some(score),
            Some(place) => Some(std::mem::replace(place, score)),
            None => {
                self.scores.insert(member.into(), score);
                self.bytes += member.len();
                None
            }
        };
        if let Some(old) = old {
            let rank = self.order.rank(old, member);
            self.order.remove(rank..rank + 1, |_| {});
        }
        self.order.insert(score, member.into());
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
        let SortedSet { scores, order, bytes, .. } = self;
        order.remove(ranks, |member| {
            *bytes -= member.len();
            scores.swap_remove(member);
        });
    }
}
