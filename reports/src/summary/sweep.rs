//! The `fencepost.sweep` format: the combined results of the runs of many seeds.

mod cell;
mod comparison;
mod config;
mod failing;
mod finding_state;
mod first;
mod interval;
mod merge;
mod possible;
mod ranges;
mod wanted;

pub use cell::{Cell, Fingerprint, Kept, RunSummary, Smallest, VIOLATIONS_MAX};
pub(crate) use comparison::fisher::{Hits, p_value};
pub use comparison::{
    Anomaly, Comparison, Difference, Half, LEVEL, NothingInCommon, Pair, Setting, Side,
};
pub use config::differing;
pub use failing::Standing;
pub use finding_state::FindingState;
pub(crate) use first::EXACT_MAX;
pub use first::{Blocks, OpenBlock, SeedsToFirst};
pub use interval::{Rate, quiet_bound};
pub use merge::{Gaps, MergeError, merge, runs_of};
pub use possible::Impossible;
pub use ranges::Ranges;
pub use wanted::Wanted;

use crate::record::checksum::{Uncovered, checksum};
use crate::summary::report::Tool;
use fencepost_faults::Seed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

pub const FORMAT: &str = "fencepost.sweep";
pub const VERSION: u32 = 1;

/// Results of many seeds. The same runs give the same bytes, except in `measured`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// Name of the format, always `fencepost.sweep`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Version of the format, always 1.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// Name and version of the program that wrote the document.
    pub tool: Tool,
    /// Settings that all runs share. Seeds, shard and number of threads are not included.
    pub config: serde_json::Value,
    /// Checksum of this document without the measurements; absent in documents of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
    /// Range from the shard's first seed to the last seed that was run.
    pub seeds: SeedRange,
    /// Ranges within `seeds` that were not run, in ascending order; absent if all seeds were run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<SeedRange>,
    /// Shard of the complete sweep; after a merge, 1 of 1.
    pub shard: Shard,
    /// Seeds of the complete sweep, all shards together; absent in documents of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<SeedRange>,
    /// `true` if every seed of the shard was run.
    pub complete: bool,
    /// Results, one cell for each lock under each fault.
    pub cells: Vec<Cell>,
    /// Comparison with an earlier sweep; absent if no baseline was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Box<Comparison>>,
    /// Speed of the sweep, which differs between machines.
    #[serde(default)]
    pub measured: Measured,
}

/// Consecutive seeds, from `from` up to but not including `to`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct SeedRange {
    /// First seed of the range.
    pub from: Seed,
    /// First seed after the range.
    pub to: Seed,
}

/// One of `count` contiguous parts of a whole. The sizes of the parts differ by at most one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Shard {
    /// Number of the shard, from 1 to `count`.
    pub index: u32,
    /// Number of shards in the whole; 1 if the whole is not divided.
    pub count: u32,
}

/// Speed of a sweep in real time.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Number of runs per second on all threads; absent if not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_per_second: Option<f64>,
    /// Number of runs per second divided by the number of threads; absent if not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_per_second_per_core: Option<f64>,
    /// Duration of the sweep in milliseconds of real time; absent if not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ms: Option<u64>,
}

impl Sweep {
    /// Returns the seeds of the shard that were not run, in ascending order. If the document does
    /// not state the seeds of the whole sweep, returns the gaps.
    pub fn missing(&self) -> Vec<SeedRange> {
        let asked = self.whole.map_or(self.seeds, |whole| self.shard.slice(whole));
        let ran: Ranges = runs_of(self).into_iter().collect();
        ran.missing(asked)
    }

    /// Names the seeds that were not run; `None` if the sweep is complete.
    pub fn missing_in_words(&self) -> Option<String> {
        let missing: Vec<String> = self.missing().iter().map(SeedRange::to_string).collect();
        match missing.split_last() {
            None if self.complete => None,
            None => Some("the sweep was interrupted".to_owned()),
            Some((one, [])) => Some(format!("seeds {one} were not run")),
            Some((last, others)) => {
                Some(format!("seeds {} and {last} were not run", others.join(", ")))
            }
        }
    }

    pub fn sealed(&self) -> serde_json::Result<Sweep> {
        let document = serde_json::to_value(self)?;
        let checksum = checksum(&document, Uncovered::Measured);
        Ok(Sweep { checksum: Some(checksum), ..self.clone() })
    }
}

impl Shard {
    pub const WHOLE: Shard = Shard { index: 1, count: 1 };

    pub fn slice(self, range: SeedRange) -> SeedRange {
        let width = u128::from(range.to.0.saturating_sub(range.from.0));
        let count = u128::from(self.count.max(1));
        let cut = |index: u32| {
            let share = width * u128::from(index).min(count) / count;
            Seed(range.from.0 + u64::try_from(share).unwrap_or(u64::MAX))
        };
        SeedRange { from: cut(self.index.saturating_sub(1)), to: cut(self.index) }
    }
}

impl SeedRange {
    pub fn len(self) -> u64 {
        self.to.0.saturating_sub(self.from.0)
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl fmt::Display for SeedRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}..{}", self.from, self.to))
    }
}
