//! `fencepost replay`: the plans of a report again, under turmoil; the histories must be the same. Must never know how a report came to be.

use super::arguments::FileArguments;
use super::options::{client, format};
use super::output::{print, read_file};
use super::run::{complete, run_for};
use super::{Failure, Outcome};
use crate::Engine;
use crate::run::RunSpec;
use crate::scenario::Scenario;
use crate::verdicts::{Findings, report, verdict_of};
use fencepost_reports::format::Format;
use fencepost_reports::read::read_report;
use fencepost_reports::{Report, RunReport};
use std::path::Path;
use std::rc::Rc;

/// Runs the plans of a report again and compares.
pub(crate) fn replay(arguments: &FileArguments) -> Result<Outcome, Failure> {
    let format = format(&arguments.format)?;
    let path = &arguments.file;
    let recorded = read_report(&read_file(path)?).map_err(|error| Failure::content(path, error))?;
    let scenario = Rc::new(scenario_of(path, &recorded)?);
    let mut runs = Vec::with_capacity(recorded.runs.len());
    for run in &recorded.runs {
        runs.push(replay_run(path, &recorded, run, &scenario, format)?);
    }
    let replayed = report(recorded.seed, Engine::Turmoil, &scenario, runs);
    let mut text = Vec::new();
    format.write_run(&replayed, &mut text).map_err(Failure::Output)?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(verdict_of(&replayed.runs))
}

fn replay_run(
    path: &Path,
    recorded: &Report,
    run: &RunReport,
    scenario: &Rc<Scenario>,
    format: &dyn Format,
) -> Result<RunReport, Failure> {
    let families = run.fault.parse().map_err(|error| Failure::content(path, error))?;
    let (seed, plan) = (recorded.seed, run.plan.clone());
    let spec = RunSpec { seed, client: client(&run.client)?, families, scenario: scenario.clone(), plan };
    spec.validate().map_err(|error| Failure::content(path, error))?;
    let outcome = run_for(&spec, Engine::Turmoil, format)?;
    let mut replayed = Findings { spec: &spec, outcome: &outcome }.report();
    if replayed.history_digest != run.history_digest {
        return Err(Failure::Mismatch(format!(
            "{}: client {}, fault {}: the replay gives history {}, the report says {}",
            path.display(),
            run.client,
            run.fault,
            replayed.history_digest,
            run.history_digest
        )));
    }
    complete(&mut replayed, outcome, format.needs());
    Ok(replayed)
}

/// The scenario that a report echoes.
fn scenario_of(path: &Path, recorded: &Report) -> Result<Scenario, Failure> {
    let echoed = recorded.config.get("scenario").cloned().unwrap_or_default();
    let scenario: Scenario =
        serde_json::from_value(echoed).map_err(|error| Failure::content(path, format!("config.scenario: {error}")))?;
    scenario.validate().map_err(|error| Failure::content(path, format!("config.scenario: {error}")))?;
    Ok(scenario)
}
