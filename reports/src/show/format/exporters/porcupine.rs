//! Writes histories as JSON, which the Go program in `examples/porcupine` checks with Porcupine.

use super::operations::{self, Operation};
use crate::judge::finding::Kind;
use crate::judge::timeline::{SectionEnd, Timeline};
use crate::record::history::{Action, History, What};
use crate::show::format::{Format, Needs, Page};
use crate::show::view::View;
use crate::summary::report::Report;
use fencepost_faults::{Node, SimTime};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write};

pub(crate) const FORMAT: Format = Format {
    about: "JSON operations for the Porcupine linearizability checker",
    needs: Needs::History,
    runs: View::written("porcupine", write_report),
    sweeps: None,
};

fn write_report(_: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let runs = report.runs.iter().map(|run| {
        let kinds: BTreeSet<Kind> = run.violations.iter().map(|one| one.violation.kind).collect();
        json!({
            "client": run.client,
            "fault": run.fault,
            "workload": run.history.as_ref().map(|history| history.header.workload),
            "verdict": run.verdict.name(),
            "kinds": kinds,
            "operations": run.history.as_ref().map_or(Vec::new(), values),
        })
    });
    let runs: Vec<Value> = runs.collect();
    write(&json!({ "seed": report.seed, "runs": runs }), out)
}

fn write(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

fn values(history: &History) -> Vec<Value> {
    let operations = operations::all(history);
    let next = operations.iter().map(|one| one.thread + 1).max().unwrap_or(0);
    let timeline = Timeline::new(history);
    let unreleased = timeline
        .sections
        .iter()
        .filter(|section| matches!(section.ended_by, SectionEnd::Lost | SectionEnd::Crash));
    let left = unreleased.filter_map(|section| Some((section.process, section.to?.time)));
    let leaves = (next..).zip(left).map(|(thread, (process, at))| leave(thread, process, at));
    operations.iter().map(value).chain(leaves).collect()
}

fn leave(thread: u64, process: Node, at: SimTime) -> Value {
    json!({
        "ClientId": thread,
        "Input": { "f": "leave", "process": process, "value": null, "based_on": null },
        "Call": nanos(at.0),
        "Output": { "outcome": "ok", "value": null, "token": null },
        "Return": nanos(at.0),
    })
}

fn nanos(micros: u64) -> i64 {
    i64::try_from(u128::from(micros) * 1_000).unwrap_or(i64::MAX)
}

/// Times are in nanoseconds. An operation with an unknown outcome returns at `i64::MAX`.
fn value(operation: &Operation<'_>) -> Value {
    let known = operation.completed.filter(|_| operation.is_known());
    let value = match operation.action {
        Action::Write { value, .. } => Some(*value),
        _ => None,
    };
    let based_on = match operation.action {
        Action::Write { based_on, .. } => Some(*based_on),
        _ => None,
    };
    let output = match known.map(|event| &event.what) {
        Some(What::Ok { value, token, .. }) => {
            json!({ "outcome": "ok", "value": value, "token": token })
        }
        Some(_) => json!({ "outcome": "fail" }),
        None => json!({ "outcome": "unknown" }),
    };
    json!({
        "ClientId": operation.thread,
        "Input": {
            "f": operation.action.name(),
            "process": operation.process,
            "value": value,
            "based_on": based_on,
        },
        "Call": nanos(operation.invoked.time_us.0),
        "Output": output,
        "Return": known.map_or(i64::MAX, |event| nanos(event.time_us.0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    #[test]
    fn a_section_that_no_release_ended_is_left_when_its_process_dies_or_hears_of_the_loss() {
        let left = |story: Story| {
            let values = values(&story.build());
            let leaves = values.into_iter().filter(|one| one["Input"]["f"] == "leave");
            leaves.map(|one| one["Call"].as_i64().unwrap() / 1_000_000).collect::<Vec<i64>>()
        };
        assert_eq!(left(Story::new().takes(1, 1, "a").crashes(5, 1)), [5]);
        assert_eq!(left(Story::new().takes(1, 1, "a").loses(7, 1)), [7]);
        assert_eq!(left(Story::new().takes(1, 1, "a").releases(5, 1)), [] as [i64; 0]);
        assert_eq!(left(Story::new().acquires(1, 1).crashes(5, 1)), [] as [i64; 0]);
    }
}
