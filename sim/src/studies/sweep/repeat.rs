use super::{FailedRun, Listener, Stage, Stop, SweepSpec};
use crate::run::parallel::in_parallel;
use crate::setup::scenario::Scenario;
use fencepost_faults::Seed;
use fencepost_reports::Sweep;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(super) struct Inspection<'s> {
    pub(super) stage: Stage,
    pub(super) listener: &'s dyn Listener,
    pub(super) stop: &'s Stop,
}

pub(super) fn repeat_runs<T: Send>(
    spec: &SweepSpec,
    sum: &Sweep,
    inspection: &Inspection<'_>,
    again: impl Fn(usize, Seed, &Rc<Scenario>) -> Result<T, FailedRun> + Sync,
) -> Vec<(usize, Seed, Result<T, FailedRun>)> {
    let mut runs: Vec<(usize, Seed)> = Vec::new();
    for (place, cell) in sum.cells.iter().enumerate() {
        let mut seeds: Vec<Seed> =
            cell.fingerprints.iter().map(|found| found.smallest.seed).collect();
        seeds.sort();
        seeds.dedup();
        runs.extend(seeds.into_iter().map(|seed| (place, seed)));
    }
    let done = AtomicUsize::new(0);
    let results = in_parallel(spec.jobs, &runs, |&(place, seed)| {
        if inspection.stop.is_urgent() {
            return None;
        }
        let result = again(place, seed, &Rc::new(spec.scenario.clone()));
        inspection.listener.report_stage(
            inspection.stage,
            done.fetch_add(1, Ordering::Relaxed) + 1,
            runs.len(),
        );
        Some((place, seed, result))
    });
    results.into_iter().flatten().collect()
}
