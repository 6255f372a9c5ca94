use super::Failure;
use super::arguments::{JobsArgument, QuietArgument};
use super::progress::Progress;
use crate::Engine;
use crate::run::fit::fits;
use crate::setup::scenario::Scenario;
use crate::studies::sweep::{Listener, Stop, SweepSpec, count};
use fencepost_clients::Definition;
use fencepost_faults::{Families, Seed};
use fencepost_reports::summary::sweep::{SeedRange, Shard, Sweep};
use fencepost_reports::{RunFacts, Verdict};

pub(super) fn counted(
    cells: Vec<(&'static Definition, Families)>,
    scenario: Scenario,
    (from, to): (u64, u64),
    jobs: JobsArgument,
    quiet: QuietArgument,
) -> Result<Sweep, Failure> {
    for (client, families) in &cells {
        fits(&scenario, client, families).map_err(Failure::wrong)?;
    }
    let spec = SweepSpec {
        cells,
        scenario,
        engine: Engine::Fast,
        seeds: SeedRange { from: Seed(from), to: Seed(to) },
        shard: Shard::WHOLE,
        jobs: jobs.count(),
        fail_fast: false,
        explains: false,
        violations_max: 0,
    };
    let watch = Watch(Progress::new(spec.seeds.len() * spec.cells.len() as u64, quiet.verbosity()));
    let result = count(&spec, &watch, &Stop::new());
    watch.0.finish();
    Ok(result?)
}

struct Watch(Progress);

impl Listener for Watch {
    fn run_done(&self, facts: &RunFacts, _: Seed) {
        self.0.run_done(facts.verdict == Verdict::Violated);
    }
}
