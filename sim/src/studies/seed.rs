use crate::engine::{Engine, EngineError};
use crate::run::verdicts::FinishedRun;
use crate::run::{RunOutcome, RunSpec};
use fencepost_faults::Seed;
use fencepost_reports::RunFacts;

pub(crate) struct Ran {
    pub(crate) spec: RunSpec,
    pub(crate) outcome: RunOutcome,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedRun {
    pub client: String,
    pub fault: String,
    pub seed: Seed,
    pub error: EngineError,
}

impl Ran {
    pub(crate) fn of(spec: RunSpec, engine: Engine) -> Result<Ran, FailedRun> {
        match spec.run(engine) {
            Ok(outcome) => Ok(Ran { spec, outcome }),
            Err(error) => Err(FailedRun::of(&spec, error)),
        }
    }

    pub(crate) fn facts(&self) -> RunFacts {
        FinishedRun { spec: &self.spec, outcome: &self.outcome }.facts()
    }
}

impl FailedRun {
    pub(crate) fn of(run: &RunSpec, error: EngineError) -> FailedRun {
        FailedRun {
            client: run.client.name.to_owned(),
            fault: run.families.to_string(),
            seed: run.seed,
            error,
        }
    }
}
