use super::Failure;
use super::output::{log, read_file};
use fencepost_reports::documents::read::{read_report, read_sweep};
use fencepost_reports::{Report, Sweep};
use serde::de::IgnoredAny;
use std::fmt::Display;
use std::path::Path;

pub(super) const SUMMARY: &str = "a summary of `fencepost sweep --format json`";

const REPORT: &str = "a report of `fencepost run --format json`";

fn unreadable(path: &Path, text: &str, expected: &str, error: impl Display) -> Failure {
    if text.trim_start().starts_with('{') {
        return Failure::content(path, error);
    }
    let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
    let problem = if is_json { "" } else { "not JSON: " };
    Failure::content(path, format!("{problem}expected {expected}"))
}

pub(super) fn sweep_in(path: &Path) -> Result<Sweep, Failure> {
    sweep_of(path, &read_file(path, SUMMARY)?)
}

pub(super) fn sweep_of(path: &Path, text: &str) -> Result<Sweep, Failure> {
    let sweep = read_sweep(text).map_err(|error| unreadable(path, text, SUMMARY, error))?;
    if sweep.checksum.is_none() {
        unprotected(path, "has no checksum");
    }
    Ok(sweep)
}

pub(super) fn report_in(path: &Path) -> Result<Report, Failure> {
    let text = read_file(path, REPORT)?;
    let report = read_report(&text).map_err(|error| unreadable(path, &text, REPORT, error))?;
    if report.runs.iter().any(|run| run.history.is_some() && run.history_checksum.is_none()) {
        unprotected(path, "has a history without a checksum");
    }
    Ok(report)
}

pub(super) fn unprotected(path: &Path, why: &str) {
    log(format_args!("warning: {}: {why}, so damage cannot be detected", path.display()));
}
