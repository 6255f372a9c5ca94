//! Reads arbitrary text as a report, sweep or matrix, and writes a valid document in its formats.

use crate::targets::typed;
use fencepost_reports::documents::matrix::VIEWS;
use fencepost_reports::documents::read::{Document, read_any, read_matrix};
use fencepost_reports::show::format::{FORMATS, Format};
use fencepost_reports::summary::sweep::{Gaps, Sweep, merge};
use fencepost_reports::{Report, judge, validate};
use serde_json::Value;

/// Removes the checksum, which most changes would invalidate.
fn unsealed(document: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(document).ok()?;
    value.as_object_mut()?.remove("checksum")?;
    Some(value.to_string())
}

fn write(report: &Report) {
    for format in FORMATS {
        format.write_run(report, &mut Vec::new()).expect("memory takes everything");
    }
    for history in report.runs.iter().filter_map(|run| run.history.as_ref()) {
        if validate(history).is_ok() {
            judge(history);
        }
    }
}

fn write_sweep(sweep: &Sweep) {
    let Ok(sum) = merge(std::slice::from_ref(sweep), Gaps::Allowed) else { return };
    for format in FORMATS.iter().filter_map(Format::of_sweeps) {
        format.write(&sum, &mut Vec::new()).expect("memory takes everything");
    }
}

fn check(document: &str) {
    match read_any(document) {
        Ok(Document::Report(report)) => write(&report),
        Ok(Document::Sweep(sweep)) => write_sweep(&sweep),
        _ => {}
    }
    if let Ok(matrix) = read_matrix(document) {
        for view in VIEWS {
            view.write(&matrix).expect("a matrix that was read is written");
        }
    }
}

pub(super) fn run(input: &[u8]) {
    typed(input, check_input);
}

fn check_input(document: &str) {
    check(document);
    if let Some(document) = unsealed(document) {
        check(&document);
    }
}
