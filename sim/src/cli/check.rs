//! `fencepost check`: a recorded history, judged again. Must never know how it was recorded.

use super::arguments::FileArguments;
use super::output::{print, read_file};
use super::{Failure, Outcome};
use crate::verdicts::outcome_of;
use fencepost_reports::read::{line_of_event, read_history};
use fencepost_reports::visible::visible;
use fencepost_reports::{Judgement, judge, validate};

/// Judges a history and prints the verdict.
pub(crate) fn check(arguments: &FileArguments) -> Result<Outcome, Failure> {
    let path = &arguments.file;
    let content = read_file(path)?;
    let history = read_history(&content).map_err(|error| Failure::content(path, error))?;
    validate(&history).map_err(|error| {
        let line = error.position().and_then(|position| line_of_event(&content, position));
        Failure::content(
            path,
            line.map_or(String::new(), |line| format!("line {line}: ")) + &error.to_string(),
        )
    })?;
    let judgement = judge(&history);
    let text = match arguments.format.as_str() {
        "text" => text(&judgement),
        "json" => json(&judgement),
        other => {
            return Err(Failure::wrong(format!("unknown format '{other}': expected text or json")));
        }
    };
    print(&text)?;
    Ok(outcome_of(&judgement.verdict))
}

fn text(judgement: &Judgement) -> String {
    let mut text = format!("{}\n", judgement.verdict.name());
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

fn json(judgement: &Judgement) -> String {
    let verdict = serde_json::to_value(&judgement.verdict).unwrap_or_default();
    let mut value = serde_json::json!({ "violations": judgement.violations });
    if let (Some(map), Some(verdict)) = (value.as_object_mut(), verdict.as_object()) {
        map.extend(verdict.clone());
    }
    format!("{value:#}\n")
}
