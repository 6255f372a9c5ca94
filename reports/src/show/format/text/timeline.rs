use super::lanes::{Gap, Lanes, with_gaps};
use super::layout::{BOLD, DIM, RED};
use crate::record::history::What;
use crate::summary::report::{RunReport, TimelineEntry};
use crate::summary::violation::Violation;
use anstyle::Style;
use fencepost_faults::Node;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Writes the events around the violation, or only the evidence if `told` already has them all.
pub(crate) fn write(
    run: &RunReport,
    violation: &Violation,
    told: &mut BTreeSet<u64>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let shown: BTreeSet<u64> = shown(run, violation).iter().map(|entry| entry.sequence).collect();
    if shown.is_empty() {
        return Ok(());
    }
    let anew = shown.iter().any(|sequence| !told.contains(sequence));
    told.extend(&shown);
    let evidence: BTreeSet<u64> = violation.witness.iter().map(|event| event.sequence).collect();
    let lines = with_gaps(&run.timeline, |entry| {
        shown.contains(&entry.sequence) && (anew || evidence.contains(&entry.sequence))
    });
    write_lines(lines, &violation.processes, &evidence, out)?;
    if anew { write_legend(out) } else { Ok(()) }
}

pub(crate) fn write_quiet(run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    if run.timeline.is_empty() {
        return Ok(());
    }
    let entered = run.timeline.iter().flat_map(|entry| entry.holding.iter().copied());
    let processes: BTreeSet<Node> = entered.collect();
    let processes: Vec<Node> = processes.into_iter().collect();
    write_lines(with_gaps(&run.timeline, |_| true), &processes, &BTreeSet::new(), out)?;
    write_legend(out)
}

fn write_legend(out: &mut dyn Write) -> io::Result<()> {
    let legend = "> evidence   ┃ critical section   ┊ critical section, machine stopped   ┇ events \
                  left out";
    writeln!(out, "{:4}{DIM}{legend}{DIM:#}", "")
}

fn write_lines(
    lines: Vec<(Gap, &TimelineEntry)>,
    processes: &[Node],
    evidence: &BTreeSet<u64>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut lanes = Lanes::new(processes);
    writeln!(out)?;
    writeln!(out, "    {DIM}{:>12}  {}{DIM:#}", "time", lanes.head().trim_end())?;
    let columns = Columns {
        who: lines.iter().map(|(_, entry)| place(entry).len()).max().unwrap_or(0),
        micros: lines.iter().any(|(_, entry)| !entry.time_us.0.is_multiple_of(1_000)),
    };
    for (gap, entry) in lines {
        if let Some((drawn, text)) = lanes.gap(&gap) {
            writeln!(out, "{:18}{drawn}{DIM}{text}{DIM:#}", "")?;
        }
        let line = lanes.line(entry, &gap);
        write_line(entry, &line, evidence.contains(&entry.sequence), &columns, out)?;
    }
    Ok(())
}

struct Columns {
    who: usize,
    micros: bool,
}

fn write_line(
    entry: &TimelineEntry,
    lanes: &str,
    evidence: bool,
    columns: &Columns,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lane_style = if lanes.split_whitespace().count() > 1 { RED } else { Style::new() };
    let (mark, style) = if evidence { ('>', BOLD) } else { (' ', DIM) };
    let (seconds, rest) = (entry.time_us.0 / 1_000_000, entry.time_us.0 % 1_000_000);
    let time = match columns.micros {
        true => format!("{seconds}.{rest:06}s"),
        false => format!("{seconds}.{:03}s", rest / 1_000),
    };
    let (place, who) = (place(entry), columns.who);
    let text = &entry.text;
    writeln!(
        out,
        "  {RED}{mark}{RED:#} \
         {time:>12}  {lane_style}{lanes}{lane_style:#}{style}{place:<who$}  {text}{style:#}"
    )
}

fn place(entry: &TimelineEntry) -> String {
    match &entry.what {
        What::FaultBegan { .. } | What::FaultEnded { .. } | What::Healed => "nemesis".to_owned(),
        _ => entry.process.to_string(),
    }
}

fn shown<'r>(run: &'r RunReport, violation: &Violation) -> Vec<&'r TimelineEntry> {
    let witness: BTreeSet<u64> = violation.witness.iter().map(|event| event.sequence).collect();
    let (Some(first), Some(last)) = (witness.first(), witness.last()) else { return Vec::new() };
    let involved = |entry: &TimelineEntry| match entry.what {
        What::Crashed | What::Started => {
            let mut processes = violation.processes.iter();
            !entry.process.is_process()
                || processes.any(|process| process.machine() == entry.process)
        }
        _ => !entry.process.is_process() || violation.processes.contains(&entry.process),
    };
    let belongs = |entry: &&TimelineEntry| {
        let at = entry.sequence;
        let fault = matches!(entry.what, What::FaultBegan { .. } | What::FaultEnded { .. });
        let stands = matches!(entry.what, What::Turn { turn, .. } if turn.changes_data());
        let before = at < *first && (stands || fault && acts_on(run, entry, *first));
        let within = *first <= at && at <= *last && (fault || involved(entry));
        witness.contains(&at) || before || within
    };
    run.timeline.iter().filter(belongs).collect()
}

fn acts_on(run: &RunReport, entry: &TimelineEntry, at: u64) -> bool {
    let What::FaultBegan { fault, .. } = &entry.what else { return false };
    let mut later = run.timeline.iter().filter(|other| other.sequence > at);
    later
        .any(|other| matches!(&other.what, What::FaultEnded { fault: ended, .. } if ended == fault))
}
