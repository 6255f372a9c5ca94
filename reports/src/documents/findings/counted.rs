//! Counts each run of a finding once, even if several sweeps contain it.

use crate::summary::sweep::{Ranges, SeedRange};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Seeds whose runs were counted for one fault and one set of options.
///
/// A sweep states how many of its runs show an anomaly, but names only a few of them. If a sweep
/// shares some seeds with the counted ones, and neither contains the other, the count is a lower
/// bound.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    /// Fault family, or families joined by `+`, as in `--fault`.
    pub fault: String,
    /// Command-line flags of the runs; empty for the built-in scenario.
    pub options: String,
    /// Ranges of counted seeds, in ascending order.
    pub seeds: Vec<SeedRange>,
    /// Number of runs with these seeds that show the anomaly, or a lower bound.
    pub runs: u64,
}

impl Counted {
    pub(super) fn none(fault: &str, options: &str) -> Counted {
        Counted { fault: fault.to_owned(), options: options.to_owned(), seeds: Vec::new(), runs: 0 }
    }

    /// Adds seeds, `runs` of which show the anomaly. Returns how many were new, or a lower bound.
    pub(super) fn add(&mut self, swept: &[SeedRange], runs: u64) -> u64 {
        let (before, after) = (joined(&[&self.seeds]), joined(&[&self.seeds, swept]));
        let swept = joined(&[swept]).count();
        let unseen = after.count() - before.count();
        let new = if unseen == swept {
            runs
        } else if after.count() == swept {
            runs.saturating_sub(self.runs)
        } else {
            runs.saturating_sub(swept - unseen).min(unseen)
        };
        self.seeds = after.iter().collect();
        self.runs = self.runs.saturating_add(new);
        new
    }
}

fn joined(all: &[&[SeedRange]]) -> Ranges {
    let mut joined = Ranges::default();
    for range in all.iter().copied().flatten() {
        joined.missing(*range).into_iter().for_each(|part| joined.insert(part));
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_faults::Seed;

    fn counted(sweeps: &[(u64, u64, u64)]) -> u64 {
        let mut counted = Counted::none("pause", "");
        for (from, to, runs) in sweeps {
            counted.add(&[SeedRange { from: Seed(*from), to: Seed(*to) }], *runs);
        }
        counted.runs
    }

    #[test]
    fn each_run_counts_once() {
        assert_eq!(counted(&[(0, 20, 10), (0, 20, 10)]), 10, "the same sweep twice");
        assert_eq!(counted(&[(0, 10, 4), (10, 20, 6), (0, 20, 10)]), 10, "slices and their merge");
        assert_eq!(counted(&[(0, 20, 10), (5, 10, 3)]), 10, "a part of an earlier sweep");
        assert_eq!(counted(&[(0, 10, 4), (0, 20, 10)]), 10, "a longer sweep");
        assert_eq!(counted(&[(0, 10, 4), (50, 60, 3)]), 7, "other seeds");
        assert_eq!(counted(&[(0, 10, 4), (5, 15, 7)]), 6, "at most five of the seven are known");
    }
}
