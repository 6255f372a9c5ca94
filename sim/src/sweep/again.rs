//! Doing something again with the smallest run of every anomaly, over threads. Must never know what is done.

use super::{FailedRun, Listener, Stage, Stop, SweepSpec};
use crate::scenario::Scenario;
use fencepost_faults::Seed;
use fencepost_reports::Sweep;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Why it is done, who hears of it, and who may end it early.
pub(super) struct Closer<'s> {
    pub(super) stage: Stage,
    pub(super) listener: &'s dyn Listener,
    pub(super) stop: &'s Stop,
}

/// What comes of it, in order of cell (its place) and seed, whichever thread came first. Those that an urgent stop left out are missing.
pub(super) fn again<T: Send>(
    spec: &SweepSpec,
    sum: &Sweep,
    closer: &Closer<'_>,
    again: impl Fn(usize, Seed, &Rc<Scenario>) -> Result<T, FailedRun> + Sync,
) -> Vec<(usize, Seed, Result<T, FailedRun>)> {
    let mut runs: Vec<(usize, Seed)> = Vec::new();
    for (place, cell) in sum.cells.iter().enumerate() {
        let mut seeds: Vec<Seed> = cell.fingerprints.iter().map(|found| found.smallest.seed).collect();
        seeds.sort();
        seeds.dedup();
        runs.extend(seeds.into_iter().map(|seed| (place, seed)));
    }
    let next = AtomicU64::new(0);
    let results = Mutex::new(Vec::new());
    let work = || {
        let scenario = Rc::new(spec.scenario.clone());
        while let Some(&(place, seed)) = runs.get(next.fetch_add(1, Ordering::Relaxed) as usize)
            && !closer.stop.is_urgent()
        {
            let result = again(place, seed, &scenario);
            let mut results = results.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            results.push((place, seed, result));
            closer.listener.looked_closer(closer.stage, results.len(), runs.len());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..spec.jobs.max(1) {
            scope.spawn(work);
        }
    });
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|(place, seed, _)| (*place, *seed));
    results
}
