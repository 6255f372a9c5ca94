//! Documents of explorations that covered a single shard or were stopped.

use super::stated::{bounds_of, read_slice, stated, stated_pruned, stated_runs, stated_slice};
use crate::run::verdicts::tool;
use crate::studies::explore::plan::bounds::Bounds;
use crate::studies::explore::plan::level::{Level, up_to};
use crate::studies::explore::plan::prune::Pruned;
use crate::studies::explore::run::ledger::{DuplicateUnit, Ledger, Unit, Units};
use crate::studies::explore::run::sum::Sum;
use fencepost_reports::documents::certificate::unfinished::{self, LooseUnit, Unfinished};
use fencepost_reports::documents::certificate::{changed_values, version_of};
use fencepost_reports::summary::sweep::{Gaps, Shard};

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidPartial {
    #[error("the document belongs to another exploration: {0}")]
    Other(String),
    #[error("explore cannot have written this document: {0}")]
    Impossible(String),
    #[error(
        "unit {} of the plans with {} is also in an earlier file: expected every unit in only one \
         file",
        .0.unit,
        .0.level
    )]
    Twice(DuplicateUnit),
    #[error(
        "units {from}..{to} of the plans with {level} are missing: add the file that contains \
         them, or merge with --partial"
    )]
    Missing { level: Level, from: usize, to: usize },
}

pub struct Merged {
    pub bounds: Bounds,
    pub conditions: Vec<String>,
    pub ledger: Ledger,
}

/// Builds the document of an unfinished exploration, without its checksum.
pub fn unfinished(
    bounds: &Bounds,
    conditions: &[String],
    (shard, ledger): (Shard, &Ledger),
    reason: &str,
) -> Unfinished {
    let loose = |(level, unit, done): (Level, usize, &Unit)| LooseUnit {
        faults: level.faults,
        delays: level.delays,
        unit: unit as u64,
        runs: done.runs,
        digest: done.digest.clone(),
    };
    Unfinished {
        format: unfinished::FORMAT.to_owned(),
        version: version_of(bounds.delays),
        tool: tool(),
        checksum: None,
        is_certificate: false,
        reason: reason.to_owned(),
        bounds: stated(bounds, conditions),
        shard,
        units: stated_units(bounds, ledger),
        runs: stated_runs(bounds, ledger.sum()),
        left_out: stated_pruned(bounds, ledger.sum()),
        slices: ledger.slices().map(stated_slice).collect(),
        loose: ledger.single_units().map(loose).collect(),
    }
}

fn stated_units(bounds: &Bounds, ledger: &Ledger) -> Vec<u64> {
    let counts = ledger.units().iter().map(|(_, units)| *units as u64);
    let none = if bounds.delays == 0 { 3 - ledger.units().len() } else { 0 };
    counts.chain(std::iter::repeat_n(0, none)).collect()
}

pub fn resumed(
    partial: &Unfinished,
    (bounds, conditions): (&Bounds, &[String]),
    shard: Shard,
) -> Result<Ledger, InvalidPartial> {
    let none = Ledger::new(Units::new());
    let asked = unfinished(bounds, conditions, (shard, &none), &partial.reason);
    let is_about = |one: &Unfinished| serde_json::json!({ "tool": one.tool, "bounds": one.bounds, "shard": one.shard });
    check_same_bounds(is_about(partial), is_about(&asked))?;
    ledger(bounds, partial)
}

/// Merges the documents of unfinished explorations. An error contains the index of the invalid
/// document, or of the last document if units are missing.
pub fn merge(partials: &[Unfinished], gaps: Gaps) -> Result<Merged, (usize, InvalidPartial)> {
    let none = || (0, InvalidPartial::Impossible("there is none".to_owned()));
    let first = partials.first().ok_or_else(none)?;
    let bounds = bounds_of(&first.bounds).map_err(|why| (0, InvalidPartial::Impossible(why)))?;
    let conditions = first.bounds.conditions.clone();
    let is_about = |one: &Unfinished| serde_json::json!({ "tool": one.tool, "bounds": one.bounds, "units": one.units });
    let mut own = first.clone();
    (own.tool, own.bounds) = (tool(), stated(&bounds, &conditions));
    let mut sum = Ledger::new(counts(&bounds, first).map_err(|why| (0, why))?);
    for (place, partial) in partials.iter().enumerate() {
        let at = |why| (place, why);
        check_same_bounds(is_about(partial), is_about(&own)).map_err(at)?;
        let part = ledger(&bounds, partial).map_err(at)?;
        sum.absorb(&part).map_err(|twice| (place, InvalidPartial::Twice(twice)))?;
    }
    match (gaps, sum.missing()) {
        (Gaps::Refused, Some((level, units))) => {
            let missing = InvalidPartial::Missing { level, from: units.start, to: units.end };
            Err((partials.len() - 1, missing))
        }
        _ => Ok(Merged { bounds, conditions, ledger: sum }),
    }
}

fn check_same_bounds(
    found: serde_json::Value,
    asked: serde_json::Value,
) -> Result<(), InvalidPartial> {
    let changed = changed_values("", &found, &asked);
    let first = changed.first().map(|line| line.trim_start_matches('.').to_owned());
    first.map_or(Ok(()), |line| Err(InvalidPartial::Other(line)))
}

/// Larger counts in a document are invalid, because sums of them could overflow.
const COUNT_MAX: u64 = 1 << 48;

fn counts(bounds: &Bounds, partial: &Unfinished) -> Result<Units, InvalidPartial> {
    let (runs, out) = (&partial.runs, &partial.left_out);
    let sums = [runs.all, runs.valid, runs.unknown, runs.fired, runs.contended];
    let same_order = out.same_order_plans.unwrap_or_default();
    let left_out = [out.gap_places, out.idle_plans, out.colliding_plans, same_order];
    let slices = partial.slices.iter().map(|slice| slice.runs);
    let loose = partial.loose.iter().map(|unit| unit.runs);
    let counted = [&sums[..], &left_out, &partial.units].concat();
    match counted.into_iter().chain(slices).chain(loose).find(|count| *count > COUNT_MAX) {
        Some(count) => Err(InvalidPartial::Impossible(format!("the count {count} is too large"))),
        None => units_of(bounds, &partial.units).ok_or_else(|| {
            InvalidPartial::Impossible("its units belong to other plans".to_owned())
        }),
    }
}

fn units_of(bounds: &Bounds, counts: &[u64]) -> Option<Units> {
    let levels = up_to(bounds.most());
    let is_absent =
        |place: usize| counts.get(place..).is_some_and(|rest| rest.iter().all(|one| *one == 0));
    let counts = counts.iter().map(|count| *count as usize);
    is_absent(levels.len()).then(|| levels.into_iter().zip(counts).collect())
}

fn ledger(bounds: &Bounds, partial: &Unfinished) -> Result<Ledger, InvalidPartial> {
    let impossible = |what: &str| Err(InvalidPartial::Impossible(what.to_owned()));
    let mut ledger = Ledger::new(counts(bounds, partial)?);
    for slice in &partial.slices {
        if !ledger.enter_slice(read_slice(slice)) {
            return impossible("it has a slice of units that do not exist");
        }
    }
    for LooseUnit { faults, delays, unit, runs, digest } in &partial.loose {
        let done = Unit { runs: *runs, digest: digest.clone() };
        let level = Level { faults: *faults, delays: *delays };
        if !ledger.enter(level, *unit as usize, done) {
            return impossible("it has a unit that does not exist, or a unit twice");
        }
    }
    let (runs, out) = (&partial.runs, &partial.left_out);
    let (mut by_faults, mut by_delays) = ([0; 3], [0; 3]);
    let slices = ledger.slices().map(|slice| (slice.level, slice.runs));
    for (level, runs) in
        slices.chain(ledger.single_units().map(|(level, _, unit)| (level, unit.runs)))
    {
        by_faults[usize::from(level.faults)] += runs;
        by_delays[usize::from(level.delays)] += runs;
    }
    let is_sum = by_faults == runs.by_faults && runs.by_delays.is_none_or(|own| own == by_delays);
    if !is_sum || by_faults.iter().sum::<u64>() != runs.all {
        return impossible("its number of runs does not match its slices and units");
    }
    if runs.violated != 0 || runs.valid + runs.unknown != runs.all {
        return impossible("its verdicts do not match its number of runs");
    }
    ledger.add(&Sum {
        runs: runs.by_faults,
        by_delays,
        valid: runs.valid,
        unknown: runs.unknown,
        violated: runs.violated,
        fired: runs.fired,
        contended: runs.contended,
        pruned: Pruned {
            places_in_gaps: out.gap_places,
            idle: out.idle_plans,
            colliding: out.colliding_plans,
            same_order: out.same_order_plans.unwrap_or_default(),
        },
    });
    Ok(ledger)
}
