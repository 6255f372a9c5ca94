use super::arguments::ReplayArguments;
use super::options::{client_of, format};
use super::output::{log, page, print};
use super::read::report_in;
use super::run::run_for;
use super::{Failure, Outcome};
use crate::Engine;
use crate::hosts::programs::{InvalidProgram, Program, ran};
use crate::hosts::real::trial;
use crate::run::RunSpec;
use crate::run::verdicts::{FinishedRun, recordings, report};
use crate::setup::lengths::with_stated;
use crate::setup::scenario::{InvalidServers, OwnServer, Scenario, ServerBinary};
use fencepost_reports::record::programs::shell_word;
use fencepost_reports::show::format::Format;
use fencepost_reports::summary::report::MinimalWorkload;
use fencepost_reports::{Report, RunFacts, RunReport, Stages};
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

pub(crate) fn replay(arguments: &ReplayArguments) -> Result<Outcome, Failure> {
    let format = format(&arguments.source.format)?;
    let path = &arguments.source.file;
    let recorded = report_in(path)?;
    if arguments.minimal {
        require_minimal(path, &recorded)?;
    }
    let mut scenario = scenario_of(path, &recorded)?;
    let compared = compared(&recorded, &scenario, arguments.allow_changed)?;
    if arguments.allow_changed {
        scenario.programs.iter_mut().for_each(Program::update);
        let stated = |(name, binary): (&String, &ServerBinary)| format!("{name}={}", binary.path);
        let stated: Vec<String> = scenario.binaries.iter().map(stated).collect();
        let now = trial::binaries(&stated, &BTreeSet::new()).map_err(Failure::wrong)?;
        scenario.binaries.extend(now);
    }
    let scenario = Rc::new(scenario);
    let mut runs = Vec::with_capacity(recorded.runs.len());
    for (run, is_compared) in recorded.runs.iter().zip(compared) {
        let (recorded, scenario) = (&recorded, &scenario);
        let again = Replay { arguments, recorded, run, scenario, is_compared };
        match arguments.minimal {
            false => runs.push(again.replay(format)?),
            true => runs.extend(again.replay_minimal(format)?),
        }
    }
    let replayed = report(recorded.seed, Engine::Turmoil, &scenario, runs);
    let mut text = Vec::new();
    format
        .write_run_in(page(arguments.verbose.detail()), &replayed, &mut text)
        .map_err(Failure::Output)?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(Outcome::of_runs(&replayed.runs))
}

fn require_minimal(path: &Path, recorded: &Report) -> Result<(), Failure> {
    let mut violations = recorded.runs.iter().flat_map(|run| &run.violations);
    if violations.any(|one| one.minimal_plan.is_some() && one.minimal_run.is_some()) {
        return Ok(());
    }
    let file = path.display();
    let why = match recorded.runs.iter().all(|run| run.violations.is_empty()) {
        true => "has no violations, so it has no minimal plans".to_owned(),
        false => format!(
            "has no minimal plans: replay the report that `fencepost shrink {} --format json` \
             prints",
            shell_word(&file.to_string())
        ),
    };
    Err(Failure::wrong(format!("{file} {why}")))
}

fn compared(
    recorded: &Report,
    scenario: &Scenario,
    allow_changed: bool,
) -> Result<Vec<bool>, Failure> {
    let mut all = Vec::with_capacity(recorded.runs.len());
    for run in &recorded.runs {
        let unchanged = unchanged(run, scenario);
        all.push(unchanged.is_ok());
        match unchanged {
            Err(changed) if !allow_changed => return Err(Failure::wrong(changed)),
            Err(Changed::Program(InvalidProgram::Changed { name, file })) => log(format_args!(
                "note: program '{name}': {file} has changed since the report, so its histories are \
                 not compared"
            )),
            Err(Changed::Server(InvalidServers::Changed { path, .. })) => log(format_args!(
                "note: server {path} has changed since the report, so the histories are not \
                 compared"
            )),
            _ => {}
        }
    }
    Ok(all)
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Changed {
    #[error(transparent)]
    Program(#[from] InvalidProgram),
    #[error(transparent)]
    Server(#[from] InvalidServers),
}

pub(super) fn unchanged(run: &RunReport, scenario: &Scenario) -> Result<(), Changed> {
    scenario.binaries.values().try_for_each(ServerBinary::unchanged)?;
    let program = scenario.programs.iter().find(|program| program.name == run.client);
    let mut own = program.into_iter().flat_map(|program| &program.servers);
    own.try_for_each(OwnServer::unchanged)?;
    let of_program = program.map_or(Ok(()), |program| {
        let mut ran = run.ran.clone();
        ran.files.retain(|path, _| scenario.binaries.values().all(|binary| binary.path != *path));
        ran::unchanged(program, &ran)
    });
    Ok(of_program?)
}

struct Replay<'r> {
    arguments: &'r ReplayArguments,
    recorded: &'r Report,
    run: &'r RunReport,
    scenario: &'r Rc<Scenario>,
    is_compared: bool,
}

impl Replay<'_> {
    fn path(&self) -> &Path {
        &self.arguments.source.file
    }

    fn spec(&self) -> Result<RunSpec, Failure> {
        spec_of(self.path(), self.recorded, self.run, self.scenario)
    }

    fn replay(&self, format: &Format) -> Result<RunReport, Failure> {
        let spec = self.spec()?;
        let shown_by = shown_by(self.run, &spec);
        let mut report = self.replay_spec(&spec, (&self.run.history_digest, shown_by), format)?;
        report.workload = self.run.workload;
        Ok(report)
    }

    fn replay_minimal(&self, format: &Format) -> Result<Vec<RunReport>, Failure> {
        let mut replayed = Vec::new();
        for violation in &self.run.violations {
            let (Some(plan), Some(minimal)) = (&violation.minimal_plan, &violation.minimal_run)
            else {
                continue;
            };
            let (processes, cycles) = (minimal.processes, minimal.cycles);
            let whole = self.spec()?;
            let scenario = Rc::new(Scenario { processes, cycles, ..(*whole.scenario).clone() });
            scenario
                .validate()
                .map_err(|error| Failure::content(self.path(), format!("minimal_run: {error}")))?;
            let spec = RunSpec { plan: plan.clone(), scenario, ..whole };
            let file = shell_word(&self.path().display().to_string());
            let allowed = if self.arguments.allow_changed { " --allow-changed" } else { "" };
            let shown_by = format!("fencepost replay {file} --minimal{allowed}");
            let digest = minimal.history_digest.as_str();
            let mut report = self.replay_spec(&spec, (digest, shown_by), format)?;
            report.workload = Some(MinimalWorkload { processes, cycles });
            let id = &violation.violation.id;
            if self.is_compared && report.violations.iter().all(|it| it.violation.id != *id) {
                let (path, client) = (self.path().display(), &self.run.client);
                return Err(Failure::Mismatch(format!(
                    "{path}: the minimal plan of client {client} does not reproduce violation {id}"
                )));
            }
            replayed.push(report);
        }
        Ok(replayed)
    }

    fn replay_spec(
        &self,
        spec: &RunSpec,
        (digest, shown_by): (&str, String),
        format: &Format,
    ) -> Result<RunReport, Failure> {
        spec.validate().map_err(|error| Failure::content(self.path(), error))?;
        let outcome = run_for(spec, Engine::Turmoil, format)?;
        let facts = FinishedRun { spec, outcome: &outcome }.facts_shown_by(shown_by);
        if self.is_compared {
            same_history(self.path(), &facts, digest)?;
        }
        Ok(Stages { recordings: recordings(outcome, format.needs()), ..facts.into() }.into())
    }
}

/// Returns the run's command line from the report, because its plan may differ from the seed's.
pub(super) fn shown_by(run: &RunReport, spec: &RunSpec) -> String {
    let stated = run.violations.first().map(|violation| violation.replay.clone());
    stated.unwrap_or_else(|| FinishedRun::command(spec))
}

pub(super) fn spec_of(
    path: &Path,
    recorded: &Report,
    run: &RunReport,
    scenario: &Rc<Scenario>,
) -> Result<RunSpec, Failure> {
    let families = run.fault.parse().map_err(|error| Failure::content(path, error))?;
    let (seed, plan) = (recorded.seed, run.plan.clone());
    let wrong = |field: &str, error: String| Failure::content(path, format!("{field}: {error}"));
    let with_lengths = with_stated(scenario, &run.lengths);
    let mut scenario = with_lengths.map_err(|error| wrong("runs.lengths", error))?;
    scenario.validate().map_err(|error| wrong("runs.lengths", error.to_string()))?;
    if let Some(MinimalWorkload { processes, cycles }) = run.workload {
        (scenario.processes, scenario.cycles) = (processes, cycles);
        scenario.validate().map_err(|error| wrong("runs.workload", error.to_string()))?;
    }
    let scenario = Rc::new(scenario);
    Ok(RunSpec { seed, client: client_of(&run.client, &scenario)?, families, scenario, plan })
}

pub(super) fn same_history(path: &Path, replayed: &RunFacts, digest: &str) -> Result<(), Failure> {
    if replayed.history_digest == digest {
        return Ok(());
    }
    Err(Failure::Mismatch(format!(
        "{}: client {}, fault {}: the replayed history has the digest {}, but the report has \
         {digest}",
        path.display(),
        replayed.client,
        replayed.fault,
        replayed.history_digest,
    )))
}

pub(super) fn scenario_of(path: &Path, recorded: &Report) -> Result<Scenario, Failure> {
    scenario_in(path, &recorded.config)
}

pub(super) fn scenario_in(path: &Path, config: &serde_json::Value) -> Result<Scenario, Failure> {
    let echoed = config.get("scenario").cloned().unwrap_or_default();
    let scenario: Scenario = serde_json::from_value(echoed)
        .map_err(|error| Failure::content(path, format!("config.scenario: {error}")))?;
    scenario
        .validate()
        .map_err(|error| Failure::content(path, format!("config.scenario: {error}")))?;
    Ok(scenario)
}
