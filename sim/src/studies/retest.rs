use super::seed::{FailedRun, Ran};
use crate::engine::Engine;
use crate::run::RunSpec;

pub(crate) fn shows(run: RunSpec, engine: Engine, id: &str) -> Result<bool, FailedRun> {
    let facts = Ran::of(run, engine)?.facts();
    Ok(facts.violations.iter().any(|violation| violation.id == id))
}
