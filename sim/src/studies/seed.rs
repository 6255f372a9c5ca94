//! One seed of a study: drawn, run, and told.

use crate::engine::{Engine, EngineError};
use crate::run::verdicts::Findings;
use crate::run::{RunOutcome, RunSpec};
use fencepost_faults::Seed;
use fencepost_reports::RunFacts;

/// A run, and what came of it.
pub(crate) struct Ran {
    pub(crate) spec: RunSpec,
    pub(crate) outcome: RunOutcome,
}

/// A run that could not be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedRun {
    /// Which lock.
    pub client: String,
    /// Which faults.
    pub fault: String,
    /// Which seed.
    pub seed: Seed,
    /// Why.
    pub error: EngineError,
}

impl Ran {
    /// Makes a run.
    pub(crate) fn of(spec: RunSpec, engine: Engine) -> Result<Ran, FailedRun> {
        match spec.run(engine) {
            Ok(outcome) => Ok(Ran { spec, outcome }),
            Err(error) => Err(FailedRun::of(&spec, error)),
        }
    }

    /// What it tells.
    pub(crate) fn facts(&self) -> RunFacts {
        Findings { spec: &self.spec, outcome: &self.outcome }.facts()
    }
}

impl FailedRun {
    /// Why this run could not be made.
    pub(crate) fn of(run: &RunSpec, error: EngineError) -> FailedRun {
        FailedRun {
            client: run.client.name.to_owned(),
            fault: run.families.to_string(),
            seed: run.seed,
            error,
        }
    }
}
