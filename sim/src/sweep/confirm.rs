//! The smallest run of every anomaly again, under turmoil. Must never know how it was found.

use super::{FailedRun, SweepSpec};
use crate::engine::{Engine, EngineError};
use crate::run::RunSpec;
use crate::scenario::Scenario;
use fencepost_faults::Seed;
use fencepost_reports::Sweep;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Runs the smallest run of every anomaly again under turmoil. Another history there is a failure of the simulation, not a finding.
pub(super) fn confirm(spec: &SweepSpec, sum: &mut Sweep) -> Result<(), FailedRun> {
    let mut again: Vec<(usize, Seed)> = Vec::new();
    for (place, cell) in sum.cells.iter().enumerate() {
        let mut seeds: Vec<Seed> = cell.fingerprints.iter().map(|found| found.smallest.seed).collect();
        seeds.sort();
        seeds.dedup();
        again.extend(seeds.into_iter().map(|seed| (place, seed)));
    }
    let next = AtomicU64::new(0);
    let confirmed = Mutex::new(Vec::new());
    let work = || {
        let scenario = Rc::new(spec.scenario.clone());
        while let Some(&(place, seed)) = again.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
            let result = confirm_run(spec, place, seed, &scenario);
            confirmed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((place, seed, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..spec.jobs.max(1) {
            scope.spawn(work);
        }
    });
    let mut results = confirmed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|(place, seed, _)| (*place, *seed));
    for (place, seed, result) in results {
        result?;
        sum.cells[place].confirm(seed);
    }
    Ok(())
}

/// One run in both engines.
fn confirm_run(spec: &SweepSpec, place: usize, seed: Seed, scenario: &Rc<Scenario>) -> Result<(), FailedRun> {
    let (client, families) = &spec.cells[place];
    let run = RunSpec::draw(seed, client, families, scenario.clone());
    let failed = |error| FailedRun { client: client.name.to_owned(), fault: families.to_string(), seed, error };
    let fast = run.run(Engine::Fast).map_err(failed)?;
    let turmoil = run.run(Engine::Turmoil).map_err(failed)?;
    let pairs = fast.history.events.iter().zip(&turmoil.history.events);
    match pairs.clone().find(|(a, b)| a != b) {
        None if fast.history.events.len() == turmoil.history.events.len() => Ok(()),
        differing => {
            let first = differing.map_or(pairs.len() as u64, |(event, _)| event.sequence);
            Err(failed(EngineError::Differ(first)))
        }
    }
}
