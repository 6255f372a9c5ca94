//! Reads documents in fencepost's published formats, such as reports and sweeps.

mod event_line;

pub use event_line::line_of_event;

use crate::documents::matrix::{self, Matrix};
use crate::record::checksum::{Damaged, Uncovered, verify};
use crate::record::digest::digest;
use crate::record::history::{self, History};
use crate::summary::report::{self, Report, RunReport};
use crate::summary::stages::checksum_of;
use crate::summary::sweep::{self, Impossible, Sweep};
use fencepost_faults::FaultPlan;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReadError {
    #[error("not JSON: {0}")]
    NotJson(String),
    #[error("the JSON is truncated: it ends at line {line}, column {column}")]
    CutShort { line: usize, column: usize },
    #[error("format {found}: expected {expected}")]
    WrongFormat {
        /// The field `format` as JSON, or `absent`.
        found: String,
        expected: String,
    },
    #[error(
        "version {found} of {format} is too new: this build reads versions up to {supported}; use \
         a newer build"
    )]
    NewerVersion { format: String, found: u64, supported: u32 },
    #[error("unknown version {found} of {format}: expected a number of at least 1")]
    NoVersion { format: String, found: String },
    #[error("not a valid {format}: {problem}")]
    Invalid { format: String, problem: String },
    #[error("the checksum of {what} does not match its content: the file was damaged or edited")]
    Damaged { what: String },
}

#[derive(Clone, PartialEq, Debug)]
pub enum Document {
    Report(Box<Report>),
    History(Box<History>),
    Sweep(Box<Sweep>),
    /// A fault plan, recognized as an object with `faults` and no textual `format`.
    Plan(FaultPlan),
}

/// Reads a report, and checks the digests and checksums of its histories.
pub fn read_report(text: &str) -> Result<Report, ReadError> {
    sound_report(typed(parse(text)?, report::FORMAT, report::VERSION)?)
}

/// Reads a history. Errors in its content name their line.
pub fn read_history(text: &str) -> Result<History, ReadError> {
    typed(parse(text)?, history::FORMAT, history::VERSION).map_err(|error| match error {
        // A parsed JSON value has no line numbers. Parsing the text again locates the problem.
        ReadError::Invalid { format, problem } => {
            let located =
                serde_json::from_str::<History>(text).err().map(|error| error.to_string());
            ReadError::Invalid { format, problem: located.unwrap_or(problem) }
        }
        other => other,
    })
}

/// Reads a sweep, and checks its checksum and counts.
pub fn read_sweep(text: &str) -> Result<Sweep, ReadError> {
    sound_sweep(parse(text)?)
}

pub fn read_matrix(text: &str) -> Result<Matrix, ReadError> {
    typed(parse(text)?, matrix::FORMAT, matrix::VERSION)
}

pub fn read_any(text: &str) -> Result<Document, ReadError> {
    let value = parse(text)?;
    match value.get("format").and_then(Value::as_str) {
        Some(report::FORMAT) => Ok(Document::Report(Box::new(sound_report(typed(
            value,
            report::FORMAT,
            report::VERSION,
        )?)?))),
        Some(history::FORMAT) => {
            Ok(Document::History(typed(value, history::FORMAT, history::VERSION)?))
        }
        Some(sweep::FORMAT) => Ok(Document::Sweep(Box::new(sound_sweep(value)?))),
        None if value.get("faults").is_some() => Ok(Document::Plan(holding(value, "fault plan")?)),
        _ => {
            let expected = format!(
                "{}, {}, {} or a fault plan",
                report::FORMAT,
                history::FORMAT,
                sweep::FORMAT
            );
            Err(ReadError::WrongFormat { found: found(&value, "format"), expected })
        }
    }
}

fn sound_report(report: Report) -> Result<Report, ReadError> {
    let is_sound = |run: &RunReport| {
        let (Some(history), stated) = (&run.history, &run.history_checksum) else { return true };
        digest(history) == run.history_digest
            && (stated.is_none() || *stated == checksum_of(history))
    };
    match report.runs.iter().find(|run| !is_sound(run)) {
        Some(run) => {
            let what = format!("the history of {} under {}", run.client, run.fault);
            Err(ReadError::Damaged { what })
        }
        None => Ok(report),
    }
}

fn sound_sweep(document: Value) -> Result<Sweep, ReadError> {
    let damage = verify(&document, Uncovered::Measured);
    let sweep: Sweep = typed(document, sweep::FORMAT, sweep::VERSION)?;
    damage.map_err(|Damaged| ReadError::Damaged { what: "this sweep".to_owned() })?;
    let impossible = |problem: Impossible| ReadError::Invalid {
        format: sweep::FORMAT.to_owned(),
        problem: problem.to_string(),
    };
    sweep.possible().map_err(impossible)?;
    Ok(sweep)
}

fn parse(text: &str) -> Result<Value, ReadError> {
    serde_json::from_str(text).map_err(|error| match error.classify() {
        Category::Eof if !text.trim().is_empty() => {
            ReadError::CutShort { line: error.line(), column: error.column() }
        }
        _ => ReadError::NotJson(error.to_string().to_lowercase()),
    })
}

fn typed<T: DeserializeOwned>(value: Value, format: &str, supported: u32) -> Result<T, ReadError> {
    if value.get("format").and_then(Value::as_str) != Some(format) {
        return Err(ReadError::WrongFormat {
            found: found(&value, "format"),
            expected: format.to_owned(),
        });
    }
    let format_name = format.to_owned();
    match value.get("version").and_then(Value::as_u64) {
        Some(found) if found > u64::from(supported) => {
            Err(ReadError::NewerVersion { format: format_name, found, supported })
        }
        Some(1..) => holding(value, format),
        _ => Err(ReadError::NoVersion { format: format_name, found: found(&value, "version") }),
    }
}

fn holding<T: DeserializeOwned>(value: Value, format: &str) -> Result<T, ReadError> {
    serde_json::from_value(value).map_err(|error| ReadError::Invalid {
        format: format.to_owned(),
        problem: error.to_string(),
    })
}

fn found(value: &Value, field: &str) -> String {
    value.get(field).map_or("absent".to_owned(), Value::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn report() -> String {
        serde_json::to_string(&samples::report(vec![samples::failover()])).unwrap()
    }

    fn refused(text: &str) -> String {
        read_report(text).expect_err("it is not a report").to_string()
    }

    #[test]
    fn what_was_written_is_read_back() {
        assert_eq!(read_report(&report()).unwrap(), samples::report(vec![samples::failover()]));
        let history = samples::failover().build();
        assert_eq!(read_history(&serde_json::to_string(&history).unwrap()).unwrap(), history);
        let sweep = samples::sweep(0, 20);
        assert_eq!(read_sweep(&serde_json::to_string(&sweep).unwrap()).unwrap(), sweep);
    }

    #[test]
    fn a_sweep_that_was_edited_or_cannot_be_is_refused() {
        let sealed = samples::sweep(0, 20).sealed().unwrap();
        let text = serde_json::to_string(&sealed).unwrap();
        assert_eq!(read_sweep(&text), Ok(sealed.clone()));
        let edited = text.replace("\"client\":\"redlock\"", "\"client\":\"redlocj\"");
        assert_eq!(
            read_sweep(&edited).unwrap_err().to_string(),
            "the checksum of this sweep does not match its content: the file was damaged or edited"
        );
        let faster = text.replace("4240.0", "9999.0");
        assert!(faster != text && read_sweep(&faster).is_ok(), "what is measured is not covered");
        let mut wrong = Sweep { checksum: None, ..sealed };
        wrong.cells[0].violated += 1;
        let said = read_sweep(&serde_json::to_string(&wrong).unwrap()).unwrap_err().to_string();
        assert!(said.contains("do not add up to 20 runs"), "{said}");
    }

    #[test]
    fn a_history_in_a_report_must_be_the_one_that_was_written() {
        let mut report = samples::with_history(samples::failover());
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(read_report(&text), Ok(report.clone()));
        let history = |edit: &dyn Fn(&mut History)| {
            let mut edited = report.clone();
            edited.runs[0].history.iter_mut().for_each(edit);
            serde_json::to_string(&edited).unwrap()
        };
        let header = history(&|history| history.header.faults_planned += 1);
        let event = history(&|history| drop(history.events.pop()));
        for edited in [header, event] {
            let said = refused(&edited);
            assert!(said.starts_with("the checksum of the history of "), "{said}");
        }
        report.runs[0].history_checksum = None;
        assert!(read_report(&serde_json::to_string(&report).unwrap()).is_ok());
    }

    #[test]
    fn any_format_is_told_from_the_others() {
        assert!(matches!(read_any(&report()), Ok(Document::Report(_))));
        let plan = serde_json::to_string(&samples::report(vec![samples::failover()]).runs[0].plan)
            .unwrap();
        assert!(matches!(read_any(&plan), Ok(Document::Plan(plan)) if plan.faults.len() == 2));
        let history = serde_json::to_string(&samples::failover().build()).unwrap();
        assert!(matches!(read_any(&history), Ok(Document::History(_))));
        let sweep = serde_json::to_string(&samples::sweep(0, 2)).unwrap();
        assert!(matches!(read_any(&sweep), Ok(Document::Sweep(_))));
        assert_eq!(
            read_any("{}").unwrap_err().to_string(),
            "format absent: expected fencepost.report, fencepost.history, fencepost.sweep or a \
             fault plan"
        );
    }

    #[test]
    fn what_is_no_json_is_refused() {
        assert_eq!(refused("seed: 7"), "not JSON: expected value at line 1 column 1");
        assert!(refused("").starts_with("not JSON: "));
    }

    #[test]
    fn a_report_that_was_cut_anywhere_is_said_to_be_cut_short() {
        let report = report();
        for end in (1..report.len()).step_by(97) {
            let said = refused(&report[..end]);
            assert!(
                said.starts_with("the JSON is truncated: it ends at line 1, column "),
                "{end}: {said}"
            );
        }
    }

    #[test]
    fn a_newer_version_is_named_with_what_this_build_reads() {
        let newer = report().replace("\"version\":2,\"tool\"", "\"version\":3,\"tool\"");
        assert_eq!(
            refused(&newer),
            "version 3 of fencepost.report is too new: this build reads versions up to 2; use a \
             newer build"
        );
    }

    #[test]
    fn a_report_of_version_1_is_read_without_its_claims_of_prevention() {
        let mut former: Value = serde_json::from_str(&report()).unwrap();
        former["version"] = 1.into();
        former["runs"][0]["violations"][0]["remedies"] = serde_json::json!([
            { "name": "watchdog", "prevents": true, "effect": "prevents" },
            { "name": "longer-lease", "prevents": false }
        ]);
        let read = read_report(&former.to_string()).unwrap();
        assert_eq!(read.version, 1);
        assert!(read.runs[0].violations[0].remedies.is_empty());
        former["runs"][0]["violations"][0]["remedies"] =
            serde_json::json!([{ "name": "watchdog" }]);
        assert!(read_report(&former.to_string()).is_err(), "it is no remedy of any version");
    }

    #[test]
    fn a_version_that_never_was_is_refused() {
        let odd = report().replace("\"version\":2,\"tool\"", "\"version\":\"one\",\"tool\"");
        assert_eq!(
            refused(&odd),
            "unknown version \"one\" of fencepost.report: expected a number of at least 1"
        );
    }

    #[test]
    fn another_format_is_named_with_what_would_be_valid() {
        let sweep = serde_json::to_string(&samples::sweep(0, 2)).unwrap();
        assert_eq!(refused(&sweep), "format \"fencepost.sweep\": expected fencepost.report");
        assert_eq!(refused("[]"), "format absent: expected fencepost.report");
    }

    #[test]
    fn what_a_history_names_of_a_closed_set_must_be_in_it() {
        let history = serde_json::to_string(&samples::failover().build()).unwrap();
        let said = |from: &str, to: &str| {
            assert!(history.contains(from), "{from}");
            read_history(&history.replacen(from, to, 1)).unwrap_err().to_string()
        };
        for (from, to, expected) in [
            ("\"workload\":\"register\"", "\"workload\":\"queue\"", "`register`, `seckill`"),
            ("\"storage\":\"fenced\"", "\"storage\":\"open\"", "`fenced`, `fenced-writes`"),
            ("\"kind\":\"delay\"", "\"kind\":\"deluge\"", "`pause`, `suspend`"),
            ("\"fault\":\"failover\"", "\"fault\":\"failovr\"", "(did you mean 'failover'?)"),
        ] {
            let said = said(from, to);
            assert!(said.starts_with("not a valid fencepost.history: unknown "), "{said}");
            assert!(said.contains(expected) && !said.contains('\n'), "{said}");
        }
    }

    #[test]
    fn a_report_without_what_it_promises_is_refused() {
        let bad = report().replace("\"seed\":\"7\"", "\"seed\":\"seven\"");
        assert!(
            refused(&bad).starts_with(
                "not a valid fencepost.report: seed 'seven': expected a decimal number"
            )
        );
    }
}
