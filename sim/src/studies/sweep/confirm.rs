//! Repeats the smallest run of every anomaly under turmoil.

use super::repeat::{Inspection, repeat_runs};
use super::{FailedRun, SweepSpec};
use crate::engine::{Engine, EngineError};
use crate::setup::scenario::Scenario;
use fencepost_faults::Seed;
use fencepost_reports::Sweep;
use std::rc::Rc;

pub(super) fn confirm(
    spec: &SweepSpec,
    sum: &mut Sweep,
    inspection: &Inspection<'_>,
) -> Result<(), FailedRun> {
    confirm_by(
        |place, seed, scenario| confirm_run(spec, place, seed, scenario),
        spec,
        sum,
        inspection,
    )
}

fn confirm_by(
    run: impl Fn(usize, Seed, &Rc<Scenario>) -> Result<(), FailedRun> + Sync,
    spec: &SweepSpec,
    sum: &mut Sweep,
    inspection: &Inspection<'_>,
) -> Result<(), FailedRun> {
    let mut first = Ok(());
    for (place, seed, result) in repeat_runs(spec, sum, inspection, run) {
        match result {
            Ok(()) => sum.cells[place].confirm(seed),
            Err(failed) => first = first.and(Err(failed)),
        }
    }
    first
}

fn confirm_run(
    spec: &SweepSpec,
    place: usize,
    seed: Seed,
    scenario: &Rc<Scenario>,
) -> Result<(), FailedRun> {
    let run = spec.draw(place, seed, scenario);
    let failed = |error| FailedRun::of(&run, error);
    let fast = run.run(Engine::Fast).map_err(failed)?;
    let turmoil = run.run(Engine::Turmoil).map_err(failed)?;
    let pairs = fast.history.events.iter().zip(&turmoil.history.events);
    match pairs.clone().find(|(a, b)| a != b) {
        None if fast.history.events.len() == turmoil.history.events.len() => Ok(()),
        differing => {
            let first = differing.map_or(pairs.len() as u64, |(event, _)| event.sequence);
            Err(failed(match scenario.program(run.client) {
                Some(_) => EngineError::ProgramDiffers(first),
                None => EngineError::Differ(first),
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::sweep::{Silent, Stage, Stop, add_up};
    use fencepost_reports::summary::sweep::{SeedRange, Shard};

    #[test]
    fn a_run_that_fails_under_turmoil_costs_the_others_nothing() {
        let spec = SweepSpec {
            cells: vec![(
                fencepost_clients::find("single-node").unwrap(),
                "pause+restart".parse().unwrap(),
            )],
            scenario: Scenario::default(),
            engine: Engine::Fast,
            seeds: SeedRange { from: Seed(0), to: Seed(24) },
            shard: Shard::WHOLE,
            jobs: 2,
            fail_fast: false,
            explains: false,
            violations_max: 10,
        };
        let (stop, listener) = (Stop::new(), &Silent);
        let mut sum = add_up(&spec, None, listener, &stop).sum;
        let mut seeds: Vec<Seed> =
            sum.cells[0].fingerprints.iter().map(|one| one.smallest.seed).collect();
        seeds.sort();
        seeds.dedup();
        assert!(seeds.len() > 1, "one fails and one does not: {seeds:?}");
        let fails = |_: usize, seed: Seed, _: &Rc<Scenario>| match seed == seeds[0] {
            true => Err(FailedRun {
                client: "single-node".to_owned(),
                fault: "pause+restart".to_owned(),
                seed,
                error: EngineError::Differ(7),
            }),
            false => Ok(()),
        };
        let inspection = Inspection { stage: Stage::Confirming, listener, stop: &stop };
        let failed = confirm_by(fails, &spec, &mut sum, &inspection).unwrap_err();
        assert_eq!(failed.seed, seeds[0]);
        let confirmed = |seed: Seed| {
            let mut of = sum.cells[0].fingerprints.iter().filter(|one| one.smallest.seed == seed);
            of.all(|one| one.smallest.confirmed_under_turmoil)
        };
        assert!(!confirmed(seeds[0]));
        assert!(seeds[1..].iter().all(|seed| confirmed(*seed)));
    }
}
