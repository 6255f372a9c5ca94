use super::{FailedRun, SweepSpec};
use crate::run::parallel::in_parallel;
use crate::run::verdicts::report;
use crate::studies::seed::Ran;
use fencepost_faults::Seed;
use fencepost_reports::summary::sweep::Cell;
use fencepost_reports::{Report, RunReport, Stages, Sweep};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

struct KeptRun {
    cell: usize,
    seed: Seed,
    ids: Vec<String>,
}

/// Repeats runs with kept violations, and passes a report of each to `hand_on`, in any order.
pub fn kept<E: From<FailedRun> + Send>(
    spec: &SweepSpec,
    sum: &Sweep,
    hand_on: &(dyn Fn(&Report) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let runs: Vec<KeptRun> =
        sum.cells.iter().enumerate().flat_map(|(place, cell)| kept_run(place, cell)).collect();
    let has_failed = AtomicBool::new(false);
    let shown = in_parallel(spec.jobs, &runs, |run| {
        if has_failed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let shown = show(spec, run, hand_on);
        has_failed.fetch_or(shown.is_err(), Ordering::Relaxed);
        shown
    });
    shown.into_iter().collect()
}

fn kept_run(cell_place: usize, cell: &Cell) -> impl Iterator<Item = KeptRun> {
    let limit = usize::try_from(cell.violations_max).unwrap_or(usize::MAX);
    let mut ids: BTreeMap<Seed, Vec<String>> = BTreeMap::new();
    for (place, kept) in cell.kept().into_iter().take(limit) {
        ids.entry(kept.seed).or_default().push(cell.fingerprints[place].id.clone());
    }
    ids.into_iter().map(move |(seed, ids)| KeptRun { cell: cell_place, seed, ids })
}

fn show<E: From<FailedRun>>(
    spec: &SweepSpec,
    showing: &KeptRun,
    hand_on: &dyn Fn(&Report) -> Result<(), E>,
) -> Result<(), E> {
    let seed = showing.seed;
    let run = spec.draw(showing.cell, seed, &Rc::new(spec.scenario.clone()));
    let found = Ran::of(run, spec.engine)?.facts();
    for id in &showing.ids {
        let mut only = found.clone();
        only.violations.retain(|other| other.id == *id);
        let only = RunReport::from(Stages::from(only));
        hand_on(&report(seed, spec.engine, &spec.scenario, vec![only]))?;
    }
    Ok(())
}
