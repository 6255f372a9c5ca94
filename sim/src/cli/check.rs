//! `fencepost check`: a recorded history, or those in a report, judged again.

use super::arguments::FileArguments;
use super::output::{print, read_file};
use super::{Failure, Outcome};
use fencepost_reports::documents::read::{Document, line_of_event, read_any, read_history};
use fencepost_reports::record::visible::visible;
use fencepost_reports::{Judgement, Report, Verdict, judge, validate};
use serde_json::Value;
use std::path::Path;

/// Judges a history, or those that a report holds, and prints the verdicts.
pub(crate) fn check(arguments: &FileArguments) -> Result<Outcome, Failure> {
    let path = &arguments.file;
    let content = read_file(path)?;
    let as_json = match arguments.format.as_str() {
        "text" => false,
        "json" => true,
        other => {
            return Err(Failure::wrong(format!("unknown format '{other}': expected text or json")));
        }
    };
    if let Ok(Document::Report(report)) = read_any(&content) {
        return check_report(path, &report, as_json);
    }
    let history = read_history(&content).map_err(|error| Failure::content(path, error))?;
    validate(&history).map_err(|error| {
        let line = error.position().and_then(|position| line_of_event(&content, position));
        Failure::content(
            path,
            line.map_or(String::new(), |line| format!("line {line}: ")) + &error.to_string(),
        )
    })?;
    let judgement = judge(&history);
    print(&if as_json { format!("{:#}\n", json(&judgement)) } else { text(&judgement) })?;
    Ok(Outcome::of(&judgement.verdict))
}

/// Judges every run of a report again, each by its own history.
fn check_report(path: &Path, report: &Report, as_json: bool) -> Result<Outcome, Failure> {
    let mut judged = Vec::new();
    for run in &report.runs {
        let name = format!("client {}, fault {}", run.client, run.fault);
        let Some(history) = &run.history else {
            let problem = format!(
                "{name}: the report holds no history: record it with --with-history, or let \
                 `fencepost replay` run it again"
            );
            return Err(Failure::content(path, problem));
        };
        validate(history).map_err(|error| Failure::content(path, format!("{name}: {error}")))?;
        judged.push((run, judge(history)));
    }
    let text = match as_json {
        true => {
            let runs = judged.iter().map(|(run, judgement)| {
                let mut value = json(judgement);
                value["client"] = run.client.clone().into();
                value["fault"] = run.fault.clone().into();
                value
            });
            format!("{:#}\n", serde_json::json!({ "runs": runs.collect::<Vec<_>>() }))
        }
        false => judged
            .iter()
            .map(|(run, judgement)| {
                let (client, fault) = (visible(&run.client), visible(&run.fault));
                format!("{client} under {fault}: {}", text(judgement))
            })
            .collect(),
    };
    print(&text)?;
    let outcomes = judged.iter().map(|(_, judgement)| Outcome::of(&judgement.verdict));
    Ok(outcomes.max().unwrap_or(Outcome::Unknown))
}

fn text(judgement: &Judgement) -> String {
    let mut text = format!("{}\n", judgement.verdict.name());
    if let Verdict::Unknown { reason } = &judgement.verdict {
        text.push_str(&format!("  {}\n", visible(reason)));
    }
    for violation in &judgement.violations {
        text.push_str(&format!(
            "\n{} by {}, {}\n  {}\n",
            violation.kind,
            violation.cause,
            visible(&violation.id),
            visible(&violation.summary)
        ));
    }
    text
}

fn json(judgement: &Judgement) -> Value {
    let verdict = serde_json::to_value(&judgement.verdict).unwrap_or_default();
    let mut value = serde_json::json!({ "violations": judgement.violations });
    if let (Some(map), Some(verdict)) = (value.as_object_mut(), verdict.as_object()) {
        map.extend(verdict.clone());
    }
    value
}
