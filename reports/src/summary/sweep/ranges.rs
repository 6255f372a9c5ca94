//! A set of seeds, as disjoint ranges. Ranges that touch are joined.

use super::SeedRange;
use fencepost_faults::Seed;
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ranges {
    /// Maps the start of each range to its end.
    ends: BTreeMap<Seed, Seed>,
}

impl Ranges {
    /// Adds a range. Panics if the set already contains one of its seeds.
    pub fn insert(&mut self, range: SeedRange) {
        if range.is_empty() {
            return;
        }
        let SeedRange { mut from, mut to } = range;
        if let Some((&before, &end)) = self.ends.range(..to).next_back() {
            assert!(end <= from, "seeds {range} were run twice: {before}..{end} are known already");
            if end == from {
                from = before;
            }
        }
        to = self.ends.remove(&to).unwrap_or(to);
        self.ends.insert(from, to);
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = SeedRange> + '_ {
        self.ends.iter().map(|(from, to)| SeedRange { from: *from, to: *to })
    }

    /// Returns the seed after the last seed; `None` if the set is empty.
    pub fn end(&self) -> Option<Seed> {
        self.ends.last_key_value().map(|(_, end)| *end)
    }

    pub fn count(&self) -> u64 {
        self.iter().map(SeedRange::len).sum()
    }

    /// Returns the seeds of `within` that are not in the set, in ascending order.
    pub fn missing(&self, within: SeedRange) -> Vec<SeedRange> {
        let mut at = within.from;
        let mut missing = Vec::new();
        for range in self.iter() {
            missing.push(SeedRange { from: at, to: range.from.min(within.to) });
            at = at.max(range.to);
        }
        missing.push(SeedRange { from: at, to: within.to });
        missing.retain(|range| !range.is_empty());
        missing
    }
}

impl FromIterator<SeedRange> for Ranges {
    fn from_iter<I: IntoIterator<Item = SeedRange>>(ranges: I) -> Ranges {
        let mut all = Ranges::default();
        ranges.into_iter().for_each(|range| all.insert(range));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: u64, to: u64) -> SeedRange {
        SeedRange { from: Seed(from), to: Seed(to) }
    }

    #[test]
    fn ranges_that_touch_become_one() {
        let ranges: Ranges =
            [range(16, 32), range(0, 16), range(48, 64), range(5, 5)].into_iter().collect();
        assert_eq!(ranges.iter().collect::<Vec<_>>(), [range(0, 32), range(48, 64)]);
        let mut closed = ranges.clone();
        closed.insert(range(32, 48));
        assert_eq!(closed.iter().collect::<Vec<_>>(), [range(0, 64)]);
        assert_eq!((closed.count(), closed.end()), (64, Some(Seed(64))));
    }

    #[test]
    fn what_is_missing_lies_between_and_around() {
        let ranges: Ranges = [range(10, 12), range(20, 30)].into_iter().collect();
        assert_eq!(ranges.missing(range(5, 40)), [range(5, 10), range(12, 20), range(30, 40)]);
        assert_eq!(ranges.missing(range(20, 30)), []);
        assert_eq!(Ranges::default().missing(range(1, 3)), [range(1, 3)]);
    }

    #[test]
    #[should_panic(expected = "run twice")]
    fn a_seed_is_never_counted_twice() {
        let mut ranges: Ranges = [range(10, 12)].into_iter().collect();
        ranges.insert(range(11, 13));
    }
}
