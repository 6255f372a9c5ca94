use super::amount::{about, count_phrase};
use super::layout::{BOLD, DIM, counted, verdict_style, wrapped_to};
use super::programs;
use super::story;
use crate::judge::finding::{Kind, Severity};
use crate::show::format::Page;
use crate::summary::report::{Report, RunReport};
use crate::summary::verdict::Verdict;
use fencepost_faults::Micros;
use std::collections::BTreeMap;
use std::io::{self, Write};

pub(crate) fn write(page: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    write_head(page, report, out)?;
    write_verdicts(page, report, out)?;
    let (mut before, mut noted) = (Vec::new(), None);
    for run in &report.runs {
        let new = run.note.as_ref().filter(|note| noted != Some(*note));
        for line in new.iter().flat_map(|note| wrapped_to(note, page.width - 2)) {
            writeln!(out, "  {line}")?;
        }
        noted = run.note.as_ref();
        programs::write_failures(run, out)?;
        before.extend(story::write(page, run, &before, out)?);
    }
    write_end(page, report, out)
}

pub(crate) fn write_head(page: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let (tool, faults) = (&report.tool, report.faults.join(", "));
    let (name, version, seed, engine) = (&tool.name, &tool.version, report.seed, &report.engine);
    let world = world(report).map_or(String::new(), |world| format!(" · {world}"));
    let head = format!("{name} {version} · seed {seed} · {faults}{world} · simulated by {engine}");
    for line in wrapped_to(&head, page.width) {
        writeln!(out, "{DIM}{line}{DIM:#}")?;
    }
    writeln!(out)
}

fn world(report: &Report) -> Option<String> {
    let scenario = report.config.get("scenario")?;
    let number = |name: &str| scenario.get(name)?.as_u64();
    let (processes, cycles) = (number("processes")?, number("cycles")?);
    let counted = |count: u64, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    };
    let who = [counted(processes, "process", "processes"), counted(cycles, "cycle", "cycles")];
    let who = who.join(" x ");
    let own_lease = |run: &RunReport| run.lengths.contains_key("ttl") || !run.programs.is_empty();
    if report.runs.iter().any(own_lease) {
        return Some(who);
    }
    let ttl = scenario.get("ttl")?.as_str()?;
    Some(format!("{who}, ttl {ttl}"))
}

pub(crate) fn write_verdicts(page: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let name = |run: &RunReport| match report.faults.len() {
        0 | 1 => run.client.clone(),
        _ => format!("{} under {}", run.client, run.fault),
    };
    let widest = |cell: &dyn Fn(&RunReport) -> String| {
        report.runs.iter().map(|run| cell(run).chars().count()).max().unwrap_or(0)
    };
    let (names, hazards) = (widest(&name), widest(&exclusion));
    for run in &report.runs {
        let (style, word) = (verdict_style(&run.verdict), word(run));
        let lead = format!("  {:<names$}  ", name(run));
        let first = exclusion(run);
        let room = page.width.saturating_sub(names + hazards + 16);
        write!(out, "{BOLD}{lead}{BOLD:#}{style}{word:<8}{style:#}  ")?;
        let rest = consequences(run);
        match rest.chars().count() <= room {
            true => writeln!(out, "{}", format!("{first:<hazards$}  {rest}").trim_end())?,
            false => {
                writeln!(out, "{first}")?;
                let indent = (names + 14).min(page.width / 2);
                for line in wrapped_to(&rest, page.width - indent) {
                    writeln!(out, "{:indent$}{line}", "")?;
                }
            }
        }
    }
    Ok(())
}

fn word(run: &RunReport) -> &'static str {
    match run.verdict {
        Verdict::Valid => "valid",
        Verdict::Violated => "VIOLATED",
        Verdict::Unknown { .. } => "unknown",
    }
}

fn exclusion(run: &RunReport) -> String {
    let overlaps = run.violations.iter().filter(|one| one.violation.kind == Kind::Overlap);
    let (count, total) = overlaps.fold((0, Micros::ZERO), |(count, total), one| {
        (count + one.violation.occurrences, total + one.violation.total_duration_us)
    });
    match count {
        0 => counted(run.acquisitions, "acquisition"),
        some => format!("{} ({} total)", counted(some, "overlap"), about(total)),
    }
}

fn consequences(run: &RunReport) -> String {
    match &run.verdict {
        Verdict::Valid => return faults(run),
        Verdict::Unknown { reason } => return reason.clone(),
        Verdict::Violated => {}
    }
    let mut counts: BTreeMap<Kind, (u64, Micros)> = BTreeMap::new();
    for one in run.violations.iter().filter(|one| one.violation.kind != Kind::Overlap) {
        let (count, total) = counts.entry(one.violation.kind).or_default();
        *count += one.violation.occurrences;
        *total = *total + one.violation.total_duration_us;
    }
    let mut told: Vec<String> =
        counts.iter().map(|(kind, (count, total))| count_phrase(*kind, *count, *total)).collect();
    if run.storage.rejected > 0 {
        told.push(format!("{} rejected", counted(run.storage.rejected, "request")));
    }
    if counts.keys().all(|kind| kind.severity() == Severity::Hazard) {
        told.insert(0, "no damage".to_owned());
    }
    let overlaps = run.violations.iter().any(|one| one.violation.kind == Kind::Overlap);
    let among = match overlaps {
        true => format!("; {}", counted(run.acquisitions, "acquisition")),
        false => String::new(),
    };
    told.join(", ") + &among
}

fn faults(run: &RunReport) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for timed in &run.plan.faults {
        *counts.entry(timed.fault.kind().name()).or_default() += 1;
    }
    if counts.is_empty() {
        return "no faults".to_owned();
    }
    let fired = u64::from(run.faults_fired);
    let told = counts.iter().map(|(kind, count)| match count {
        1 => (*kind).to_owned(),
        many => format!("{many} x {kind}"),
    });
    let told: Vec<String> = told.collect();
    let left = match fired == run.plan.faults.len() as u64 {
        true => String::new(),
        false => format!(" ({fired} of {} began)", run.plan.faults.len()),
    };
    format!("faults: {}{left}", told.join(", "))
}

fn write_end(page: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let any = |wanted: fn(&Verdict) -> bool| report.runs.iter().any(|run| wanted(&run.verdict));
    let ends = if report.runs.iter().any(|run| run.expectation.is_some()) {
        ""
    } else if any(|verdict| matches!(verdict, Verdict::Violated)) {
        "exit 1: violations found · "
    } else if any(|verdict| matches!(verdict, Verdict::Unknown { .. })) {
        "exit 3: unknown, for the reason above · "
    } else if report.runs.iter().all(|run| run.plan.faults.is_empty()) {
        "exit 0: no violation · add faults: --fault pause · "
    } else {
        "exit 0: no violation · "
    };
    let more = format!("{ends}web page: --format html · full details: --verbose");
    writeln!(out)?;
    wrapped_to(&more, page.width)
        .into_iter()
        .try_for_each(|line| writeln!(out, "{DIM}{line}{DIM:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_says_how_many_there_were_and_the_ttl_that_all_had() {
        let mut report = crate::samples::report(vec![crate::samples::paused_holder()]);
        assert_eq!(world(&report), None, "this report does not say");
        report.config =
            serde_json::json!({ "scenario": { "processes": 3, "cycles": 20, "ttl": "10s" } });
        assert_eq!(world(&report).as_deref(), Some("3 processes x 20 cycles, ttl 10s"));
        report.config["scenario"]["cycles"] = 1.into();
        assert_eq!(world(&report).as_deref(), Some("3 processes x 1 cycle, ttl 10s"));
        report.config["scenario"]["cycles"] = 20.into();
        report.runs[0].lengths.insert("ttl".to_owned(), "4s".to_owned());
        assert_eq!(world(&report).as_deref(), Some("3 processes x 20 cycles"), "it was drawn");
    }

    #[test]
    fn a_page_is_between_60_and_100_columns_wide() {
        let widths =
            [0, 60, 80, 240].map(|width| Page::of_width(width, super::super::Detail::Brief).width);
        assert_eq!(widths, [60, 60, 80, 100]);
    }
}
