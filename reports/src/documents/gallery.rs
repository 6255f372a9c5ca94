use crate::show::format::exporters::markdown_cell::cell;
use crate::show::format::text::{plan_text, timeline};
use crate::summary::report::RunReport;
use crate::summary::violation::Violation;
use std::collections::BTreeSet;
use std::fmt::Write;

#[derive(Clone, Debug)]
pub struct Page<'p> {
    pub title: &'p str,
    pub question: &'p str,
    pub protocol: &'p [&'p str],
    /// Lock, fault and seed of the run that was minimized, in words.
    pub seen: String,
    pub replay: String,
    /// Numbers of processes and cycles in the minimal run, in words.
    pub workload: String,
    /// Sentences about the nearest fault magnitudes with and without the anomaly.
    pub margins: Vec<String>,
    pub remedy: &'p str,
    /// Comparison of runs with and without the remedy; `None` if the remedy was not tried.
    pub tried: Option<String>,
    pub source: &'p str,
}

/// Returns the page as Markdown. `run` is the minimal run.
pub fn page(page: &Page<'_>, run: &RunReport, violation: &Violation) -> String {
    let mut text = format!("# {}\n\n*{}*\n\n## The protocol\n\n", page.title, page.question);
    for (place, line) in page.protocol.iter().enumerate() {
        let _ = writeln!(text, "{}. {line}", place + 1);
    }
    let _ = writeln!(
        text,
        "\n## What goes wrong\n\n{}\n\nfencepost found this violation in {}. Rule: `{}`; cause: `{}`; \
         severity: {}.\n",
        cell(&violation.summary),
        page.seen,
        violation.kind,
        violation.cause,
        violation.severity
    );
    let _ = writeln!(text, "```text\n{}```\n", timeline(run, violation));
    schedule(page, run, &mut text);
    let _ = writeln!(text, "## The remedy\n\n{}", page.remedy);
    if let Some(tried) = &page.tried {
        let _ = writeln!(text, "\n{tried}");
    }
    let _ = writeln!(text, "\n## Source\n\n{}\n\n```sh\n{}\n```", page.source, page.replay);
    text
}

fn schedule(page: &Page<'_>, run: &RunReport, text: &mut String) {
    let _ = writeln!(text, "## The minimal schedule\n\n{}\n", page.workload);
    if run.plan.faults.is_empty() {
        text.push_str("No fault is needed.\n\n");
        return;
    }
    text.push_str("| fault | at | what happens |\n| --- | --- | --- |\n");
    for timed in &run.plan.faults {
        let happens = cell(&plan_text::fault(&timed.fault));
        let _ = writeln!(text, "| {} | {} | {happens} |", timed.id, timed.at_us);
    }
    text.push('\n');
    for margin in page.margins.iter().chain(&plan_text::lasting_effect(&run.plan)) {
        let _ = writeln!(text, "{margin}\n");
    }
}

fn timeline(run: &RunReport, violation: &Violation) -> String {
    let mut bytes = Vec::new();
    let written = timeline::write(run, violation, &mut BTreeSet::new(), &mut bytes);
    written.expect("a growing buffer takes everything");
    let lines = plain(&String::from_utf8_lossy(&bytes));
    lines
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

fn plain(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use anstyle::AnsiColor;

    #[test]
    fn escape_sequences_are_taken_out() {
        let red = AnsiColor::Red.on_default();
        assert_eq!(plain(&format!("a {red}mist{red:#} m")), "a mist m");
    }

    #[test]
    fn a_page_tells_the_protocol_the_timeline_the_schedule_and_the_remedy() {
        let report = samples::report(vec![samples::paused_holder()]);
        let (run, violation) = (&report.runs[0], &report.runs[0].violations[0].violation);
        let facts = Page {
            title: "TITLE",
            question: "QUESTION?",
            protocol: &["one", "two"],
            seen: "SEEN".to_owned(),
            replay: "fencepost --seed 1".to_owned(),
            workload: "Two processes.".to_owned(),
            margins: vec!["MARGIN".to_owned()],
            remedy: "REMEDY",
            tried: Some("TRIED".to_owned()),
            source: "SOURCE",
        };
        let text = page(&facts, run, violation);
        for part in [
            "# TITLE", "*QUESTION?*", "2. two", "SEEN", "┏", "MARGIN", "REMEDY", "TRIED", "SOURCE",
            "--seed 1",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains('\u{1b}'));
    }
}
