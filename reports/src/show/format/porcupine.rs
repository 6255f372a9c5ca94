//! The history as JSON for a small Go program around Porcupine.

use super::operations::{self, Operation};
use super::{Format, Needs};
use crate::record::history::{Action, What};
use crate::summary::report::Report;
use crate::summary::sweep::Sweep;
use serde_json::{Value, json};
use std::io::{self, Write};

/// JSON for Porcupine.
pub(super) struct Porcupine;

impl Format for Porcupine {
    fn name(&self) -> &'static str {
        "porcupine"
    }

    fn about(&self) -> &'static str {
        "JSON operations for the Porcupine linearizability checker"
    }

    fn needs(&self) -> Needs {
        Needs::History
    }

    fn write_run(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let runs = report.runs.iter().map(|run| {
            let history = run.history.as_ref();
            let all: Vec<Value> = history.map_or(Vec::new(), |one| operations::all(one).iter().map(value).collect());
            json!({ "client": run.client, "fault": run.fault, "verdict": run.verdict.name(), "operations": all })
        });
        let runs: Vec<Value> = runs.collect();
        write(&json!({ "seed": report.seed, "runs": runs }), out)
    }

    fn tells_of_sweeps(&self) -> bool {
        false
    }

    fn write_sweep(&self, _: &Sweep, _: &mut dyn Write) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

fn write(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

/// Times are nanoseconds. What never ended, or ended nobody knows how, may have taken effect at any
/// later time: it returns at the end of time.
fn value(operation: &Operation<'_>) -> Value {
    let nanos = |micros: u64| i64::try_from(u128::from(micros) * 1_000).unwrap_or(i64::MAX);
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
        "Input": { "f": operation.name(), "process": operation.process, "value": value, "based_on": based_on },
        "Call": nanos(operation.invoked.time_us.0),
        "Output": output,
        "Return": known.map_or(i64::MAX, |event| nanos(event.time_us.0)),
    })
}
