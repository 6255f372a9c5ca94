use super::ranked::Ranked;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

const LISTED_MEMBERS_MAX: usize = 128;
const LISTED_LENGTH_MAX: usize = 64;

#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct SortedSet {
    scores: IndexMap<Box<[u8]>, f64, FxBuildHasher>,
    order: Ranked,
    bytes: usize,
    is_large: bool,
}

impl Eq for SortedSet {}

impl SortedSet {
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn is_listed(&self) -> bool {
        !self.is_large
    }

    pub(super) fn memory(&self) -> usize {
        64 + 2 * self.bytes + 72 * self.len()
    }

    pub(crate) fn score(&self, member: &[u8]) -> Option<f64> {
        self.scores.get(member).copied()
    }

    pub(crate) fn rank(&self, member: &[u8]) -> Option<usize> {
        Some(self.order.rank(self.score(member)?, member))
    }

    pub(crate) fn at(&self, rank: usize) -> Option<(&[u8], f64)> {
        self.order.at(rank)
    }

    /// Returns the member at a place. A removal moves the last member to the freed place.
    pub(crate) fn at_place(&self, place: usize) -> Option<(&[u8], f64)> {
        self.scores.get_index(place).map(|(member, score)| (&**member, *score))
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], f64)> {
        self.order.iter()
    }

    pub(crate) fn first_rank(&self, is_reached: impl Fn(&[u8], f64) -> bool) -> usize {
        self.order.first_rank(is_reached)
    }

    pub(crate) fn set(&mut self, member: &[u8], score: f64) -> Option<f64> {
        let old = match self.scores.get_mut(member) {
            // 0 and -0 are equal, so a stored zero keeps its sign.
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

    pub(crate) fn remove(&mut self, member: &[u8]) -> bool {
        let Some(rank) = self.rank(member) else { return false };
        self.remove_ranks(rank..rank + 1);
        true
    }

    pub(crate) fn remove_ranks(&mut self, ranks: std::ops::Range<usize>) {
        let SortedSet { scores, order, bytes, .. } = self;
        order.remove(ranks, |member| {
            *bytes -= member.len();
            scores.swap_remove(member);
        });
    }
}
