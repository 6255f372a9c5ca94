//! How far a sweep has come, so that it can go on after it was killed. Must never know where that
//! is written.

use super::{SweepSpec, config};
use crate::verdicts::tool;
use fencepost_reports::Sweep;
use fencepost_reports::sweep::{Ranges, SeedRange, runs_of};
use serde::{Deserialize, Serialize};

/// The `format` field of a checkpoint.
const FORMAT: &str = "fencepost.checkpoint";
/// The version of the format that this build reads and writes. It is no published format: only the
/// build that wrote it goes on from it.
const VERSION: u32 = 1;

/// What a sweep must remember to go on exactly where it was.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    format: String,
    version: u32,
    /// The seeds of the whole sweep, before it was cut into shards.
    asked: SeedRange,
    /// What the seeds that were run add up to. What of it was confirmed under turmoil does not
    /// matter: the smallest runs are confirmed at the end.
    sum: Sweep,
}

/// Why a sweep cannot go on from a checkpoint.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidCheckpoint {
    /// It is something else.
    #[error("not a checkpoint: {0}")]
    NotOne(String),
    /// It belongs to another sweep.
    #[error(
        "belongs to another sweep: {what} is {found}, not {asked}; go on with the options it was \
         begun with, or begin anew without --resume"
    )]
    Other {
        /// What differs.
        what: &'static str,
        /// What the checkpoint says.
        found: String,
        /// What was asked for.
        asked: String,
    },
    /// Its seeds cannot be.
    #[error("its seeds {0} lie outside of the sweep or are in disorder")]
    Seeds(SeedRange),
}

impl Checkpoint {
    /// What to write down.
    pub fn new(spec: &SweepSpec, sum: Sweep) -> Checkpoint {
        Checkpoint { format: FORMAT.to_owned(), version: VERSION, asked: spec.seeds, sum }
    }

    /// Reads a checkpoint and checks that it belongs to this sweep. Returns what was done.
    pub fn read(text: &str, spec: &SweepSpec) -> Result<Sweep, InvalidCheckpoint> {
        let not_one = |why: String| InvalidCheckpoint::NotOne(why);
        let read: Checkpoint =
            serde_json::from_str(text).map_err(|error| not_one(error.to_string()))?;
        if (read.format.as_str(), read.version) != (FORMAT, VERSION) {
            return Err(not_one(format!("format {} version {}", read.format, read.version)));
        }
        read.belongs_to(spec)?;
        read.seeds_are_in_order(spec)?;
        Ok(read.sum)
    }

    fn belongs_to(&self, spec: &SweepSpec) -> Result<(), InvalidCheckpoint> {
        let sum = &self.sum;
        let names: Vec<String> =
            sum.cells.iter().map(|cell| format!("{} x {}", cell.client, cell.fault)).collect();
        let cells: Vec<String> = spec
            .cells
            .iter()
            .map(|(client, families)| format!("{} x {families}", client.name))
            .collect();
        let slice =
            |shard: fencepost_reports::sweep::Shard| format!("{}/{}", shard.index, shard.count);
        let pairs = [
            ("tool", sum.tool.version.clone(), tool().version),
            ("seeds", self.asked.to_string(), spec.seeds.to_string()),
            ("shard", slice(sum.shard), slice(spec.shard)),
            ("cells", names.join(", "), cells.join(", ")),
            ("config", sum.config.to_string(), config(spec).to_string()),
        ];
        match pairs.into_iter().find(|(_, found, asked)| found != asked) {
            Some((what, found, asked)) => Err(InvalidCheckpoint::Other { what, found, asked }),
            None => Ok(()),
        }
    }

    /// Checks what an edited file could have broken: the seeds ascend within the shard, and every
    /// cell has run each of them once.
    fn seeds_are_in_order(&self, spec: &SweepSpec) -> Result<(), InvalidCheckpoint> {
        let (slice, seeds) = (spec.shard.slice(spec.seeds), self.sum.seeds);
        let wrong = Err(InvalidCheckpoint::Seeds(seeds));
        let bounds = self.sum.gaps.iter().flat_map(|gap| [gap.from, gap.to]).chain([seeds.to]);
        let ascending = bounds
            .clone()
            .zip([seeds.from].into_iter().chain(bounds))
            .all(|(next, last)| next >= last);
        if !ascending || seeds.from != slice.from || seeds.to > slice.to {
            return wrong;
        }
        let count = runs_of(&self.sum).into_iter().collect::<Ranges>().count();
        if self.sum.cells.iter().any(|cell| cell.runs != count) { wrong } else { Ok(()) }
    }
}
