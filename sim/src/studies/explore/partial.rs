//! Explorations without a certificate: a shard, or what was done before a stop. Written down, read
//! again to go on from, and added up until nothing is missing.

use super::bounds::Bounds;
use super::certificate::{bounds_of, stated, stated_pruned, stated_runs, stated_slice};
use super::ledger::{Ledger, Slice, Twice, Unit, parts};
use super::sum::{Pruned, Sum};
use crate::run::verdicts::tool;
use fencepost_reports::documents::certificate::unfinished::{self, LooseUnit, Unfinished};
use fencepost_reports::documents::certificate::{Slice as StatedSlice, changed_values};
use fencepost_reports::summary::sweep::{Gaps, Shard};

/// Why an exploration cannot be gone on with, or be added up with others.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidPartial {
    /// It was made with other bounds, as another shard or by another build.
    #[error("belongs to another exploration: {0}")]
    Other(String),
    /// No exploration can have written this.
    #[error("cannot be what explore wrote: {0}")]
    Impossible(String),
    /// Another file has it too.
    #[error(
        "unit {} of the plans with {} faults is in a file before this one too: each may be \
         counted once",
        .0.unit,
        .0.faults
    )]
    Twice(Twice),
    /// Something is missing.
    #[error(
        "units {from} to {to} of the plans with {faults} faults are missing: give the file that \
         has them, or allow a partial sum"
    )]
    Missing {
        /// How many faults its plans hold.
        faults: usize,
        /// The first unit.
        from: usize,
        /// The unit after the last.
        to: usize,
    },
}

/// Work that was done in several parts, added up.
pub struct Merged {
    /// What was to be enumerated.
    pub bounds: Bounds,
    /// What the conditions of each base run are, in words.
    pub conditions: Vec<String>,
    /// What was run.
    pub ledger: Ledger,
}

/// What was run where no certificate can be given, and why none can. Its checksum is still missing.
pub fn unfinished(
    bounds: &Bounds,
    conditions: &[String],
    (shard, ledger): (Shard, &Ledger),
    reason: &str,
) -> Unfinished {
    let loose = |(faults, unit, done): (usize, usize, &Unit)| LooseUnit {
        faults: faults as u8,
        unit: unit as u64,
        runs: done.runs,
        digest: done.digest.clone(),
    };
    Unfinished {
        format: unfinished::FORMAT.to_owned(),
        version: unfinished::VERSION,
        tool: tool(),
        checksum: None,
        is_certificate: false,
        reason: reason.to_owned(),
        bounds: stated(bounds, conditions),
        shard,
        units: ledger.units().map(|units| units as u64),
        runs: stated_runs(ledger.sum()),
        left_out: stated_pruned(ledger.sum()),
        slices: ledger.slices().map(stated_slice).collect(),
        loose: ledger.loose().map(loose).collect(),
    }
}

/// What an earlier process did of this shard.
pub fn resumed(
    partial: &Unfinished,
    (bounds, conditions): (&Bounds, &[String]),
    shard: Shard,
) -> Result<Ledger, InvalidPartial> {
    let none = Ledger::new([0; 3]);
    let asked = unfinished(bounds, conditions, (shard, &none), &partial.reason);
    let is_about = |one: &Unfinished| serde_json::json!({ "tool": one.tool, "bounds": one.bounds, "shard": one.shard });
    belongs(is_about(partial), is_about(&asked))?;
    ledger(partial)
}

/// Adds up parts of one exploration; their order does not matter. Errors: the place of the part at
/// fault, and why.
pub fn merge(partials: &[Unfinished], gaps: Gaps) -> Result<Merged, (usize, InvalidPartial)> {
    let none = || (0, InvalidPartial::Impossible("there is none".to_owned()));
    let first = partials.first().ok_or_else(none)?;
    let bounds = bounds_of(&first.bounds).map_err(|why| (0, InvalidPartial::Impossible(why)))?;
    let conditions = first.bounds.conditions.clone();
    let is_about = |one: &Unfinished| serde_json::json!({ "tool": one.tool, "bounds": one.bounds, "units": one.units });
    let mut own = first.clone();
    (own.tool, own.bounds) = (tool(), stated(&bounds, &conditions));
    let mut sum = Ledger::new(counts(first).map_err(|why| (0, why))?);
    for (place, partial) in partials.iter().enumerate() {
        let at = |why| (place, why);
        belongs(is_about(partial), is_about(&own)).map_err(at)?;
        let part = ledger(partial).map_err(at)?;
        sum.absorb(&part).map_err(|twice| (place, InvalidPartial::Twice(twice)))?;
    }
    match (gaps, sum.missing()) {
        (Gaps::Refused, Some((faults, units))) => {
            let missing = InvalidPartial::Missing { faults, from: units.start, to: units.end };
            Err((partials.len() - 1, missing))
        }
        _ => Ok(Merged { bounds, conditions, ledger: sum }),
    }
}

/// Whether what two explorations are about is the same.
fn belongs(found: serde_json::Value, asked: serde_json::Value) -> Result<(), InvalidPartial> {
    let changed = changed_values("", &found, &asked);
    let first = changed.first().map(|line| line.trim_start_matches('.').to_owned());
    first.map_or(Ok(()), |line| Err(InvalidPartial::Other(line)))
}

/// More than anybody runs, and so few that they can be added up.
const COUNT_MAX: u64 = 1 << 48;

/// How many units it says there are. Errors: it counts more of something than there can be.
fn counts(partial: &Unfinished) -> Result<[usize; 3], InvalidPartial> {
    let (runs, out) = (&partial.runs, &partial.left_out);
    let sums = [runs.all, runs.valid, runs.unknown, runs.fired, runs.contended];
    let left_out = [out.gap_places, out.idle_plans, out.colliding_plans];
    let slices = partial.slices.iter().map(|slice| slice.runs);
    let loose = partial.loose.iter().map(|unit| unit.runs);
    let counted = [&sums[..], &left_out, &partial.units].concat();
    match counted.into_iter().chain(slices).chain(loose).find(|count| *count > COUNT_MAX) {
        Some(count) => Err(InvalidPartial::Impossible(format!("it counts {count} of something"))),
        None => Ok(partial.units.map(|units| units as usize)),
    }
}

/// The ledger that is written down.
fn ledger(partial: &Unfinished) -> Result<Ledger, InvalidPartial> {
    let impossible = |what: &str| Err(InvalidPartial::Impossible(what.to_owned()));
    let mut ledger = Ledger::new(counts(partial)?);
    for slice in &partial.slices {
        if !ledger.enter_slice(read_slice(slice)) {
            return impossible("a slice of units that there are not");
        }
    }
    for LooseUnit { faults, unit, runs, digest } in &partial.loose {
        let done = Unit { runs: *runs, digest: digest.clone() };
        if !ledger.enter(usize::from(*faults), *unit as usize, done) {
            return impossible("a unit that there is not, or twice");
        }
    }
    let (runs, out) = (&partial.runs, &partial.left_out);
    let mut by_faults = [0; 3];
    let slices = ledger.slices().map(|slice| (slice.faults, slice.runs));
    for (faults, runs) in slices.chain(ledger.loose().map(|(faults, _, unit)| (faults, unit.runs)))
    {
        by_faults[faults] += runs;
    }
    if by_faults != runs.by_faults || by_faults.iter().sum::<u64>() != runs.all {
        return impossible("its runs are not those of its slices and units");
    }
    if runs.violated != 0 || runs.valid + runs.unknown != runs.all {
        return impossible("its verdicts are not those of its runs");
    }
    ledger.add(&Sum {
        runs: runs.by_faults,
        valid: runs.valid,
        unknown: runs.unknown,
        violated: runs.violated,
        fired: runs.fired,
        contended: runs.contended,
        pruned: Pruned {
            places_in_gaps: out.gap_places,
            idle: out.idle_plans,
            colliding: out.colliding_plans,
        },
    });
    Ok(ledger)
}

pub(super) fn read_slice(stated: &StatedSlice) -> Slice {
    Slice {
        faults: usize::from(stated.faults),
        units: stated.from as usize..stated.to as usize,
        runs: stated.runs,
        digest: stated.digest.clone(),
    }
}

/// Whether these slices are all that work of so many units is cut into.
pub(super) fn are_all(slices: &[StatedSlice], units: [usize; 3]) -> bool {
    let cut = |slice: &StatedSlice| {
        let slice = read_slice(slice);
        (slice.faults, slice.units)
    };
    slices.iter().map(cut).eq(parts(units))
}
