//! The smallest run of every anomaly again, under turmoil.

use super::again::{Closer, again};
use super::{FailedRun, SweepSpec};
use crate::engine::{Engine, EngineError};
use crate::run::RunSpec;
use crate::setup::scenario::Scenario;
use fencepost_faults::Seed;
use fencepost_reports::Sweep;
use std::rc::Rc;

/// Runs the smallest run of every anomaly again under turmoil. Another history there is a failure
/// of the simulation, not a finding.
pub(super) fn confirm(
    spec: &SweepSpec,
    sum: &mut Sweep,
    closer: &Closer<'_>,
) -> Result<(), FailedRun> {
    let confirm = |place, seed, scenario: &Rc<Scenario>| confirm_run(spec, place, seed, scenario);
    for (place, seed, result) in again(spec, sum, closer, confirm) {
        result?;
        sum.cells[place].confirm(seed);
    }
    Ok(())
}

/// One run in both engines.
fn confirm_run(
    spec: &SweepSpec,
    place: usize,
    seed: Seed,
    scenario: &Rc<Scenario>,
) -> Result<(), FailedRun> {
    let (client, families) = &spec.cells[place];
    let run = RunSpec::draw(seed, client, families, scenario.clone());
    let failed = |error| FailedRun {
        client: client.name.to_owned(),
        fault: families.to_string(),
        seed,
        error,
    };
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
