use super::arguments::RunArguments;
use super::expect::{self, JudgedCell};
use super::options::{self, Options};
use super::output::{make_folder, page, print};
use super::progress::Minimising;
use super::{Failure, Outcome};
use crate::Engine;
use crate::diagnosis::{Rates, diagnose_with};
use crate::files::write_file;
use crate::hosts::programs::difference::first_difference;
use crate::hosts::programs::record::Life;
use crate::run::verdicts::{FinishedRun, recordings, report};
use crate::run::{Recording, RunOutcome, RunSpec};
use fencepost_faults::Seed;
use fencepost_reports::show::format::{Format, Needs};
use fencepost_reports::{Diagnosis, History, Report, RunReport, Stages};
use std::path::Path;

pub(crate) fn run(arguments: &RunArguments) -> Result<Outcome, Failure> {
    let options = Options::read(&arguments.common, Engine::Turmoil, options::format)?;
    let expectations = expect::of_cells(arguments.common.expect.as_deref(), &options.cells)?;
    if let Some(folder) = &arguments.common.out {
        make_folder(folder)?;
    }
    let scenario = options.shared_scenario();
    let minimising = Minimising::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut runs = Vec::with_capacity(options.cells.len());
    for (client, families) in &options.cells {
        let spec = RunSpec::draw(Seed(arguments.seed), client, families, scenario.clone());
        let outcome = run_for(&spec, options.engine, options.format)?;
        let facts = FinishedRun { spec: &spec, outcome: &outcome }.facts();
        let diagnosis = if spec.is_traced() {
            let not_reproducible = differs_again(&spec, &options, &outcome)?;
            Diagnosis { not_reproducible, ..Diagnosis::default() }
        } else if arguments.common.no_shrink {
            Diagnosis::default()
        } else {
            minimising.begins(&facts);
            diagnose_with(&Rates::on_threads(threads), &spec, &facts.violations)
        };
        let expectation = expectations.as_ref().map(|known| known.compare_run(&facts, spec.seed));
        let asked = if arguments.with_history { Needs::History } else { Needs::Findings };
        let recordings = recordings(outcome, options.format.needs().max(asked));
        runs.push(Stages { facts, diagnosis, expectation, recordings }.into());
    }
    minimising.finish();
    let report = report(Seed(arguments.seed), options.engine, &options.scenario, runs);
    let mut text = Vec::new();
    let page = page(arguments.verbose.detail());
    options.format.write_run_in(page, &report, &mut text).map_err(Failure::Output)?;
    print(&String::from_utf8_lossy(&text))?;
    if let Some(folder) = &arguments.common.out {
        write_violations(folder, &report)?;
    }
    if expectations.is_none() {
        return Ok(Outcome::of_runs(&report.runs));
    }
    let held = report.runs.iter().filter_map(|run| {
        Some(JudgedCell {
            client: &run.client,
            fault: &run.fault,
            expectation: run.expectation.as_ref()?,
            replay: run.violations.first().map(|found| found.replay.clone()),
        })
    });
    Ok(if expect::log_deviations(held) { Outcome::Violated } else { Outcome::AsExpected })
}

fn differs_again(
    spec: &RunSpec,
    options: &Options<&Format>,
    outcome: &RunOutcome,
) -> Result<Option<String>, Failure> {
    if lives(outcome).iter().any(|life| life.is_stuck()) {
        return Ok(None);
    }
    let again = run_for(spec, options.engine, options.format)?;
    Ok(first_difference(&lives(outcome), &lives(&again))
        .or_else(|| first_differing_event(&outcome.history, &again.history)))
}

fn lives(run: &RunOutcome) -> Vec<&Life> {
    run.programs.iter().chain(&run.servers).collect()
}

fn first_differing_event(one: &History, other: &History) -> Option<String> {
    let (one, other) = (&one.events, &other.events);
    let pairs = one.iter().zip(other);
    let place = pairs.clone().position(|(one, other)| one != other);
    let place = place.or((one.len() != other.len()).then(|| pairs.len()))?;
    Some(format!("event {place} of the history differs between two runs"))
}

pub(super) fn run_spec(spec: &RunSpec, engine: Engine) -> Result<RunOutcome, Failure> {
    record(spec, engine, Recording::History)
}

pub(super) fn run_for(
    spec: &RunSpec,
    engine: Engine,
    format: &Format,
) -> Result<RunOutcome, Failure> {
    record(
        spec,
        engine,
        if format.needs() == Needs::Wire { Recording::Wire } else { Recording::History },
    )
}

fn record(spec: &RunSpec, engine: Engine, recording: Recording) -> Result<RunOutcome, Failure> {
    spec.run_recording(engine, recording).map_err(|error| Failure::Engine {
        seed: spec.seed.0,
        client: spec.client.name.to_owned(),
        fault: spec.families.to_string(),
        error,
    })
}

pub(crate) fn write_violations(folder: &Path, report: &Report) -> Result<(), Failure> {
    for run in report.runs.iter().filter(|run| !run.violations.is_empty()) {
        for violation in &run.violations {
            let mut only: RunReport = run.clone();
            only.violations.retain(|other| other.violation.id == violation.violation.id);
            let name = format!(
                "{}-{}-{}-{}.json",
                run.client, run.fault, report.seed, violation.violation.id
            );
            let faults = vec![run.fault.clone()];
            let only = Report { faults, runs: vec![only], ..report.clone() };
            let json =
                serde_json::to_vec_pretty(&only).map_err(|error| Failure::Output(error.into()))?;
            write_file(&folder.join(name), &json)?;
        }
    }
    Ok(())
}
