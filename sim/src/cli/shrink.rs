use super::arguments::ShrinkArguments;
use super::options::format;
use super::output::{page, print};
use super::read::report_in;
use super::replay::{same_history, scenario_of, shown_by, spec_of, unchanged};
use super::run::run_spec;
use super::{Failure, Outcome};
use crate::Engine;
use crate::diagnosis::diagnose;
use crate::run::verdicts::{FinishedRun, recordings};
use fencepost_reports::show::format::Needs;
use fencepost_reports::{RunReport, Stages};
use std::rc::Rc;

pub(crate) fn shrink(arguments: &ShrinkArguments) -> Result<Outcome, Failure> {
    let format = format(&arguments.source.format)?;
    let path = &arguments.source.file;
    let mut recorded = report_in(path)?;
    let scenario = Rc::new(scenario_of(path, &recorded)?);
    let mut runs = Vec::with_capacity(recorded.runs.len());
    for run in &recorded.runs {
        unchanged(run, &scenario).map_err(Failure::wrong)?;
        let spec = spec_of(path, &recorded, run, &scenario)?;
        spec.validate().map_err(|error| Failure::content(path, error))?;
        let outcome = run_spec(&spec, Engine::Fast)?;
        let shown_by = shown_by(run, &spec);
        let facts = FinishedRun { spec: &spec, outcome: &outcome }.facts_shown_by(shown_by);
        same_history(path, &facts, &run.history_digest)?;
        let diagnosis = diagnose(&spec, &facts);
        let needs = if run.history.is_some() { Needs::History } else { Needs::Findings };
        let recordings = recordings(outcome, needs);
        let shrunk = Stages { diagnosis, recordings, ..facts.into() }.into();
        runs.push(RunReport { workload: run.workload, ..shrunk });
    }
    recorded.runs = runs;
    let mut text = Vec::new();
    format
        .write_run_in(page(arguments.verbose.detail()), &recorded, &mut text)
        .map_err(Failure::Output)?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(Outcome::of_runs(&recorded.runs))
}
