//! The `fencepost.sweep` format, version 1: the combined results of the runs of many seeds
//! ([`Sweep`]).

mod cell;
mod comparison;
mod failing;
mod finding_state;
mod first;
mod interval;
mod merge;
mod possible;
mod ranges;
mod wanted;

pub use cell::{Cell, Fingerprint, Kept, RunSummary, Smallest, VIOLATIONS_MAX};
pub use comparison::{
    Anomaly, Comparison, Difference, Half, LEVEL, NothingInCommon, Pair, Setting, Side,
};
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

/// Value of the `format` field of a sweep.
pub const FORMAT: &str = "fencepost.sweep";
/// Version of the format that this build reads and writes.
pub const VERSION: u32 = 1;

/// The totals of many seeds. The same inputs give the same bytes, except in `measured`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// Always `fencepost.sweep`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Always 1.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The program that wrote it.
    pub tool: Tool,
    /// Everything that the runs have in common; neither seeds nor shard nor threads.
    pub config: serde_json::Value,
    /// The checksum of this document, without what is measured: see
    /// `fencepost_reports::record::checksum`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
    /// From the first seed that was run to the last: those of this shard only.
    pub seeds: SeedRange,
    /// The seeds between them that were not run, ascending; absent if all were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<SeedRange>,
    /// The part of a larger sweep.
    pub shard: Shard,
    /// The seeds of the larger sweep, all shards together; absent from what older builds wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<SeedRange>,
    /// `true` if every seed of the shard was run, without gaps.
    pub complete: bool,
    /// One entry for each client and fault, in the order asked for.
    pub cells: Vec<Cell>,
    /// The comparison with an earlier sweep, if a baseline was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Box<Comparison>>,
    /// Speed measurements, which differ between machines.
    #[serde(default)]
    pub measured: Measured,
}

/// A range of seeds, the end excluded.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
pub struct SeedRange {
    /// The first.
    pub from: Seed,
    /// One beyond the last.
    pub to: Seed,
}

/// Slice `index` of `count`, from 1. Slices are contiguous, see [`Shard::slice`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Shard {
    /// The number of the slice.
    pub index: u32,
    /// Of how many.
    pub count: u32,
}

/// Speed measurements.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Over all cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_per_second: Option<f64>,
    /// Of one core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_per_second_per_core: Option<f64>,
    /// Real milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ms: Option<u64>,
}

impl Sweep {
    /// Returns the sweep with its checksum added.
    pub fn sealed(&self) -> serde_json::Result<Sweep> {
        let document = serde_json::to_value(self)?;
        let checksum = checksum(&document, Uncovered::Measured);
        Ok(Sweep { checksum: Some(checksum), ..self.clone() })
    }
}

impl Shard {
    /// The only shard of a range that is not divided.
    pub const WHOLE: Shard = Shard { index: 1, count: 1 };

    /// Returns the seeds of this shard. The shards are contiguous, cover the range together, and
    /// differ in size by at most one seed. A shard whose index is above the count has no seeds.
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
    /// Returns the number of seeds in the range.
    pub fn len(self) -> u64 {
        self.to.0.saturating_sub(self.from.0)
    }

    /// Returns whether the range contains no seeds.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl fmt::Display for SeedRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}..{}", self.from, self.to))
    }
}
