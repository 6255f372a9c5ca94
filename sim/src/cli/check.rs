use super::arguments::CheckArguments;
use super::options::view;
use super::output::{print, read_file};
use super::{Failure, Outcome};
use fencepost_reports::documents::judged::{Judged, JudgedRun, VIEWS};
use fencepost_reports::documents::read::{Document, line_of_event, read_any, read_history};
use fencepost_reports::{Report, judge, validate};
use std::path::Path;

pub(crate) fn check(arguments: &CheckArguments) -> Result<Outcome, Failure> {
    let path = &arguments.file;
    let content = read_file(path, "a report or a history in JSON")?;
    let view = view(VIEWS, &arguments.format)?;
    let judged = match read_any(&content) {
        Ok(Document::Report(report)) => check_report(path, &report)?,
        _ => check_history(path, &content)?,
    };
    print(&view.write(&judged).map_err(Failure::wrong)?)?;
    let outcomes = judged.verdicts().into_iter().map(Outcome::of);
    Ok(outcomes.max().unwrap_or(Outcome::Unknown))
}

fn check_history(path: &Path, content: &str) -> Result<Judged, Failure> {
    let history = read_history(content).map_err(|error| Failure::content(path, error))?;
    validate(&history).map_err(|error| {
        let line = error.position().and_then(|position| line_of_event(content, position));
        Failure::content(
            path,
            line.map_or(String::new(), |line| format!("line {line}: ")) + &error.to_string(),
        )
    })?;
    Ok(Judged::One(judge(&history).into()))
}

fn check_report(path: &Path, report: &Report) -> Result<Judged, Failure> {
    let mut runs = Vec::new();
    for run in &report.runs {
        let name = format!("client {}, fault {}", run.client, run.fault);
        let Some(history) = &run.history else {
            let problem = format!(
                "the run of {name} has no history: make the report with --with-history, or run the \
                 plan again with `fencepost replay`"
            );
            return Err(Failure::content(path, problem));
        };
        validate(history).map_err(|error| Failure::content(path, format!("{name}: {error}")))?;
        let (client, fault) = (run.client.clone(), run.fault.clone());
        runs.push(JudgedRun { history: judge(history).into(), client, fault });
    }
    Ok(Judged::Runs { runs })
}
