//! `fencepost replay`: the plans of a report again, under turmoil; the histories must be the same.

use super::arguments::ReplayArguments;
use super::options::{client_of, format};
use super::output::{page, print};
use super::read::report_in;
use super::run::run_for;
use super::{Failure, Outcome};
use crate::Engine;
use crate::run::RunSpec;
use crate::run::verdicts::{Findings, recordings, report};
use crate::setup::lengths::with_stated;
use crate::setup::scenario::Scenario;
use fencepost_reports::show::format::Format;
use fencepost_reports::{Report, RunFacts, RunReport, Stages};
use std::path::Path;
use std::rc::Rc;

/// Runs the plans of a report again and compares.
pub(crate) fn replay(arguments: &ReplayArguments) -> Result<Outcome, Failure> {
    let format = format(&arguments.source.format)?;
    let path = &arguments.source.file;
    let recorded = report_in(path)?;
    let scenario = Rc::new(scenario_of(path, &recorded)?);
    let mut runs = Vec::with_capacity(recorded.runs.len());
    for run in &recorded.runs {
        match arguments.minimal {
            false => runs.push(replay_run(path, &recorded, run, &scenario, format)?),
            true => runs.extend(replay_minimal(path, &recorded, run, &scenario, format)?),
        }
    }
    let replayed = report(recorded.seed, Engine::Turmoil, &scenario, runs);
    let mut text = Vec::new();
    format.write_run_in(page(arguments.verbose), &replayed, &mut text).map_err(Failure::Output)?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(Outcome::of_runs(&replayed.runs))
}

/// The plan of a run.
fn replay_run(
    path: &Path,
    recorded: &Report,
    run: &RunReport,
    scenario: &Rc<Scenario>,
    format: &Format,
) -> Result<RunReport, Failure> {
    let spec = spec_of(path, recorded, run, scenario)?;
    let shown_by = run.violations.first().map(|violation| violation.replay.clone());
    replay_spec(path, &spec, (&run.history_digest, shown_by), format)
}

/// The minimal plan of each violation of a run that has one.
fn replay_minimal(
    path: &Path,
    recorded: &Report,
    run: &RunReport,
    scenario: &Rc<Scenario>,
    format: &Format,
) -> Result<Vec<RunReport>, Failure> {
    let mut replayed = Vec::new();
    for violation in &run.violations {
        let (Some(plan), Some(minimal)) = (&violation.minimal_plan, &violation.minimal_run) else {
            continue;
        };
        let (processes, cycles) = (minimal.processes, minimal.cycles);
        let whole = spec_of(path, recorded, run, scenario)?;
        let scenario = Rc::new(Scenario { processes, cycles, ..(*whole.scenario).clone() });
        scenario
            .validate()
            .map_err(|error| Failure::content(path, format!("minimal_run: {error}")))?;
        let spec = RunSpec { plan: plan.clone(), scenario, ..whole };
        let report = replay_spec(path, &spec, (&minimal.history_digest, None), format)?;
        let id = &violation.violation.id;
        if report.violations.iter().all(|shown| shown.violation.id != *id) {
            let (path, client) = (path.display(), &run.client);
            return Err(Failure::Mismatch(format!(
                "{path}: client {client}: the minimal plan of {id} does not show it"
            )));
        }
        replayed.push(report);
    }
    Ok(replayed)
}

/// The run that a report tells of.
pub(super) fn spec_of(
    path: &Path,
    recorded: &Report,
    run: &RunReport,
    scenario: &Rc<Scenario>,
) -> Result<RunSpec, Failure> {
    let families = run.fault.parse().map_err(|error| Failure::content(path, error))?;
    let (seed, plan) = (recorded.seed, run.plan.clone());
    let wrong = |error| Failure::content(path, format!("runs.lengths: {error}"));
    let scenario = Rc::new(with_stated(scenario, &run.lengths).map_err(wrong)?);
    scenario.validate().map_err(|error| wrong(error.to_string()))?;
    Ok(RunSpec { seed, client: client_of(&run.client, &scenario)?, families, scenario, plan })
}

fn replay_spec(
    path: &Path,
    spec: &RunSpec,
    (digest, shown_by): (&str, Option<String>),
    format: &Format,
) -> Result<RunReport, Failure> {
    spec.validate().map_err(|error| Failure::content(path, error))?;
    let outcome = run_for(spec, Engine::Turmoil, format)?;
    let shown_by = shown_by.unwrap_or_else(|| Findings::command(spec));
    let facts = Findings { spec, outcome: &outcome }.facts_shown_by(shown_by);
    same_history(path, &facts, digest)?;
    Ok(Stages { recordings: recordings(outcome, format.needs()), ..facts.into() }.into())
}

/// Another history than the report's is a failure.
pub(super) fn same_history(path: &Path, replayed: &RunFacts, digest: &str) -> Result<(), Failure> {
    if replayed.history_digest == digest {
        return Ok(());
    }
    Err(Failure::Mismatch(format!(
        "{}: client {}, fault {}: the replay gives history {}, the report says {digest}",
        path.display(),
        replayed.client,
        replayed.fault,
        replayed.history_digest,
    )))
}

/// The scenario that a report echoes.
pub(super) fn scenario_of(path: &Path, recorded: &Report) -> Result<Scenario, Failure> {
    scenario_in(path, &recorded.config)
}

/// The scenario that a config echoes.
pub(super) fn scenario_in(path: &Path, config: &serde_json::Value) -> Result<Scenario, Failure> {
    let echoed = config.get("scenario").cloned().unwrap_or_default();
    let scenario: Scenario = serde_json::from_value(echoed)
        .map_err(|error| Failure::content(path, format!("config.scenario: {error}")))?;
    scenario
        .validate()
        .map_err(|error| Failure::content(path, format!("config.scenario: {error}")))?;
    Ok(scenario)
}
