//! Median and 90th percentile of the number of seeds until the first violation. Merged shards must
//! give the same result as a single sweep. Blocks of seeds therefore begin at fixed numbers: block
//! `n` of length `l` contains the seeds `n * l` to `n * l + l - 1`. A block counts only if all its
//! seeds have been run. Several lengths are in use at the same time, because a short block rarely
//! contains a rare violation and a short sweep completes no long block.

use fencepost_faults::Seed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const LENGTHS: [u64; 4] = [16, 256, 4_096, 65_536];

/// Larger counts are rounded up to five significant binary digits.
pub(crate) const EXACT_MAX: u64 = 32;

/// Number of seeds until the first violation, counted from the start of each block of consecutive
/// seeds. Numbers above 32 are rounded up to five significant binary digits.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SeedsToFirst {
    /// Number of seeds within which half of the blocks show a violation; `null` if more than half
    /// of the blocks show none, or no block is complete.
    pub median: Option<u64>,
    /// Number of seeds within which nine in ten blocks show a violation; `null` if more than one in
    /// ten blocks shows none, or no block is complete.
    pub p90: Option<u64>,
    /// Length of the blocks from which `median` and `p90` are computed, in seeds: the shortest
    /// length at which nine in ten blocks show a violation, otherwise the longest length with a
    /// complete block; 0 if no block is complete.
    pub block: u64,
    /// Number of complete blocks of the length `block`.
    pub complete: u64,
    /// Results for the blocks of each length.
    pub blocks: Vec<Blocks>,
}

/// Results for blocks of one length.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Blocks {
    /// Number of consecutive seeds in each block.
    pub length: u64,
    /// Number of complete blocks without a violation.
    pub quiet: u64,
    /// Number of complete blocks for each number of seeds until the first violation.
    pub first: BTreeMap<u64, u64>,
    /// Blocks in which only some seeds were run, in ascending order.
    pub open: Vec<OpenBlock>,
}

/// A block in which only some seeds were run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OpenBlock {
    /// Seed at which the block begins.
    pub from: Seed,
    /// Number of seeds of the block that were run.
    pub seeds: u64,
    /// Position in the block of the first seed with a violation, counted from 1; `null` if no seed
    /// shows a violation.
    pub to_first: Option<u64>,
}

impl SeedsToFirst {
    /// Adds a seed's result. Each seed may be added only once.
    pub fn add(&mut self, seed: Seed, violated: bool) {
        let mut completes = false;
        for length in LENGTHS {
            let place = seed.0 % length;
            let one = OpenBlock {
                from: Seed(seed.0 - place),
                seeds: 1,
                to_first: violated.then_some(place + 1),
            };
            completes |= self.of_length(length).add(one);
        }
        if completes {
            self.settle();
        }
    }

    pub fn absorb(&mut self, other: &SeedsToFirst) {
        for blocks in &other.blocks {
            let own = self.of_length(blocks.length);
            own.quiet += blocks.quiet;
            for (count, number) in &blocks.first {
                *own.first.entry(*count).or_default() += number;
            }
            for block in &blocks.open {
                own.add(*block);
            }
        }
        self.settle();
    }

    fn of_length(&mut self, length: u64) -> &mut Blocks {
        let place = self.blocks.partition_point(|blocks| blocks.length < length);
        if self.blocks.get(place).is_none_or(|blocks| blocks.length != length) {
            self.blocks.insert(
                place,
                Blocks { length, quiet: 0, first: BTreeMap::new(), open: Vec::new() },
            );
        }
        &mut self.blocks[place]
    }

    fn settle(&mut self) {
        let complete = || self.blocks.iter().filter(|blocks| blocks.complete() > 0);
        let chosen =
            complete().find(|blocks| blocks.percentile(90).is_some()).or(complete().next_back());
        let Some(blocks) = chosen else { return };
        (self.block, self.complete) = (blocks.length, blocks.complete());
        (self.median, self.p90) = (blocks.percentile(50), blocks.percentile(90));
    }
}

impl Blocks {
    fn add(&mut self, part: OpenBlock) -> bool {
        let place = self.open.partition_point(|block| block.from < part.from);
        match self.open.get_mut(place) {
            Some(block) if block.from == part.from => {
                block.seeds += part.seeds;
                block.to_first = block.to_first.into_iter().chain(part.to_first).min();
            }
            _ => self.open.insert(place, part),
        }
        if self.open[place].seeds < self.length {
            return false;
        }
        match self.open.remove(place).to_first {
            None => self.quiet += 1,
            Some(count) => *self.first.entry(rounded_up(count)).or_default() += 1,
        }
        true
    }

    fn complete(&self) -> u64 {
        self.quiet + self.first.values().sum::<u64>()
    }

    fn percentile(&self, percent: u64) -> Option<u64> {
        let mut left = (self.complete() * percent).div_ceil(100);
        self.first.iter().find_map(|(count, blocks)| {
            left = left.saturating_sub(*blocks);
            (left == 0).then_some(*count)
        })
    }
}

fn rounded_up(count: u64) -> u64 {
    if count <= EXACT_MAX {
        return count;
    }
    let step = 1 << (count.ilog2() - 4);
    count.next_multiple_of(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(seeds: std::ops::Range<u64>, violated: impl Fn(u64) -> bool) -> SeedsToFirst {
        let mut sum = SeedsToFirst::default();
        seeds.for_each(|seed| sum.add(Seed(seed), violated(seed)));
        sum
    }

    #[test]
    fn percentiles_are_those_of_blocks_at_fixed_places() {
        let sum = sweep(0..160, |seed| seed % 16 == seed / 16);
        assert_eq!((sum.block, sum.complete, sum.median, sum.p90), (16, 10, Some(5), Some(9)));
    }

    #[test]
    fn a_block_that_was_not_run_to_its_end_does_not_count() {
        let sum = sweep(3..40, |_| true);
        assert_eq!((sum.block, sum.complete, sum.median), (16, 1, Some(1)));
        assert_eq!((sum.blocks[0].open[0].from, sum.blocks[0].open[0].seeds), (Seed(0), 13));
        assert_eq!((sum.blocks[0].open[1].from, sum.blocks[0].open[1].seeds), (Seed(32), 8));
        assert_eq!(sweep(1..16, |_| true).block, 0, "nothing is known of an open block");
    }

    #[test]
    fn a_rare_violation_is_told_in_longer_blocks() {
        let sum = sweep(0..4_096, |seed| seed % 256 == 100);
        // 101 is 1100101 in binary, and 104 is the next number with five significant digits.
        assert_eq!((sum.block, sum.complete, sum.median, sum.p90), (256, 16, Some(104), Some(104)));
        let never = sweep(0..300, |_| false);
        assert_eq!((never.block, never.complete, never.median, never.p90), (256, 1, None, None));
    }

    #[test]
    fn parts_add_up_to_the_whole_wherever_they_are_cut() {
        let violated = |seed: u64| seed.is_multiple_of(7) || seed % 256 == 200;
        let whole = sweep(5..900, violated);
        for cut in [6, 16, 17, 255, 256, 300, 899] {
            let (early, late) = (sweep(5..cut, violated), sweep(cut..900, violated));
            for (one, other) in [(&early, &late), (&late, &early)] {
                let mut sum = SeedsToFirst::default();
                sum.absorb(one);
                sum.absorb(other);
                assert_eq!(sum, whole, "cut at {cut}");
            }
        }
    }

    #[test]
    fn the_table_of_counts_stays_small() {
        let kept: std::collections::BTreeSet<u64> = (1..=65_536).map(rounded_up).collect();
        assert_eq!(kept.len(), 208);
        assert!(
            (1..=65_536)
                .all(|count| rounded_up(count) >= count && rounded_up(count) - count <= count / 16)
        );
    }
}
