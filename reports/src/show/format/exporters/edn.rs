use super::operations::{self, Operation};
use crate::record::history::{Action, Event, History, What};
use crate::show::format::{Format, Needs, Page};
use crate::show::view::View;
use crate::summary::report::Report;
use std::io::{self, Write};

pub(crate) const FORMAT: Format = Format {
    about: "Jepsen's operation maps, for Knossos and elle-cli",
    needs: Needs::History,
    runs: View::written("edn", write_report),
    sweeps: None,
};

fn write_report(_: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for run in &report.runs {
        writeln!(
            out,
            "; {} under {}, seed {}: {}",
            run.client,
            run.fault,
            report.seed,
            run.verdict.name()
        )?;
        if let Some(history) = &run.history {
            write_history(history, out)?;
        }
    }
    Ok(())
}

fn write_history(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let mut lines: Vec<(u64, u64, String)> = Vec::new();
    for operation in operations::all(history) {
        let value = match operation.action {
            Action::Write { value, .. } => value.to_string(),
            _ => "nil".to_owned(),
        };
        lines.push(line(&operation, operation.invoked, "invoke", &value));
        if let Some(event) = operation.completed {
            let (kind, value) = completion(event, value);
            lines.push(line(&operation, event, kind, &value));
        }
    }
    for event in &history.events {
        let (word, kind) = match &event.what {
            What::FaultBegan { kind, .. } => ("start", kind),
            What::FaultEnded { kind, .. } => ("stop", kind),
            _ => continue,
        };
        let text = format!(":process :nemesis, :type :info, :f :{word}-{kind}, :value nil");
        lines.push((event.sequence, event.time_us.0, text));
    }
    lines.sort_unstable();
    for (index, (_, micros, text)) in lines.iter().enumerate() {
        writeln!(out, "{{:index {index}, :time {}, {text}}}", u128::from(*micros) * 1_000)?;
    }
    Ok(())
}

fn line(operation: &Operation<'_>, event: &Event, kind: &str, value: &str) -> (u64, u64, String) {
    let (thread, name, node) = (operation.thread, operation.action.name(), operation.process);
    let text =
        format!(":process {thread}, :type :{kind}, :f :{name}, :value {value}, :node \"{node}\"");
    (event.sequence, event.time_us.0, text)
}

fn completion(event: &Event, asked: String) -> (&'static str, String) {
    match &event.what {
        What::Ok { value: Some(value), .. } => ("ok", value.to_string()),
        What::Ok { .. } => ("ok", asked),
        What::Fail { .. } => ("fail", asked),
        _ => ("info", asked),
    }
}
