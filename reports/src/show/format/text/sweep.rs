use super::comparison;
use super::layout::{BOLD, DIM, GREEN, RED, YELLOW, counted, thousands};
use crate::judge::phases::PHASES;
use crate::summary::published::{counterexample, published};
use crate::summary::sweep::{Cell, EXACT_MAX, Rate, Sweep};
use anstyle::Style;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Write};

const HEAD: [&str; 8] =
    ["client", "fault", "runs", "valid", "violated", "unknown", "rate", "95 % interval"];
const WORDS: usize = 2;

pub(crate) fn write(sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
    let (tool, seeds) = (&sweep.tool, sweep.seeds);
    writeln!(
        out,
        "{DIM}{} {}, sweep of seeds {seeds}{}{DIM:#}",
        tool.name,
        tool.version,
        shard(sweep)
    )?;
    writeln!(out)?;
    let rows: Vec<[String; 8]> = sweep.cells.iter().map(columns).collect();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .chain([HEAD[column].chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    writeln!(out, "{DIM}{}  found{DIM:#}", line(&HEAD.map(str::to_owned), &widths, None))?;
    for (cell, row) in sweep.cells.iter().zip(&rows) {
        write_cell(cell, &sweep.config["scenario"], row, &widths, out)?;
    }
    writeln!(out)?;
    write_foot(sweep, out)
}

fn shard(sweep: &Sweep) -> String {
    match sweep.shard.count {
        0 | 1 => String::new(),
        count => format!(", shard {} of {count}", sweep.shard.index),
    }
}

fn columns(cell: &Cell) -> [String; 8] {
    let Rate { point, low, high } = cell.rate;
    let exercised = cell.valid + cell.violated > 0;
    let rate = if exercised { percent(point) } else { "-".to_owned() };
    let interval =
        if exercised { format!("{} to {}", percent(low), percent(high)) } else { "-".to_owned() };
    let [runs, valid, violated, unknown] =
        [cell.runs, cell.valid, cell.violated, cell.unknown].map(thousands);
    [cell.client.clone(), cell.fault.clone(), runs, valid, violated, unknown, rate, interval]
}

fn percent(share: f64) -> String {
    format!("{:.2}", share * 100.0)
}

fn small_percent(share: f64) -> String {
    let digits = (-(share * 100.0).log10()).ceil().max(0.0) as usize + 1;
    format!("{:.digits$}", share * 100.0)
}

fn seeds_to_first(cell: &Cell) -> Option<String> {
    let first = &cell.seeds_to_first;
    let median = first.median?;
    let p90 = first.p90.map_or(format!("over {}", first.block), thousands);
    let cpu = cell
        .measured
        .get("cpu_us_to_first_median")
        .map_or(String::new(), |cpu_us| format!(", {:.0} ms of processor time", cpu_us / 1_000.0));
    let blocks =
        format!("{} of {} seeds", counted(first.complete, "block"), thousands(first.block));
    let at_most = if median > EXACT_MAX { "at most " } else { "" };
    let median = counted(median, "seed");
    Some(format!(
        "first violation after {at_most}{median} (median), {p90} (90th percentile) in {blocks}{cpu}"
    ))
}

fn line(row: &[String; 8], widths: &[usize], style: Option<Style>) -> String {
    let mut text = String::new();
    for (column, value) in row.iter().enumerate() {
        let width = widths[column];
        let padded =
            if column < WORDS { format!("{value:<width$}") } else { format!("{value:>width$}") };
        let gap = if column == 0 { "" } else { "  " };
        match (column, style) {
            (4, Some(style)) => text.push_str(&format!("{gap}{style}{padded}{style:#}")),
            _ => text.push_str(&format!("{gap}{padded}")),
        }
    }
    text
}

fn write_cell(
    cell: &Cell,
    scenario: &Value,
    row: &[String; 8],
    widths: &[usize],
    out: &mut dyn Write,
) -> io::Result<()> {
    let (style, verdict) = match (cell.violated, cell.valid) {
        (1.., _) => (RED, None),
        (0, 0) => (YELLOW, None),
        (0, _) => (GREEN, Some("nothing")),
    };
    let is_unknown = cell.valid + cell.violated == 0 && cell.failed.is_none();
    let unknown = cell.first_unknown.as_ref().filter(|_| is_unknown);
    let verdict = verdict.map(|verdict| match cell.quiet_bound {
        Some(bound) if cell.valid > 0 && bound < 1.0 => {
            format!("{verdict}: rate below {} % (95 %)", small_percent(bound))
        }
        _ => verdict.to_owned(),
    });
    let mut found: Vec<String> = Vec::new();
    for (kind, runs) in &cell.violations_by_kind {
        let seed = cell
            .first_seed
            .get(kind)
            .map_or(String::new(), |seed| format!(", first in seed {seed}"));
        found.push(format!("{BOLD}{kind}{BOLD:#} in {}{seed}", counted(*runs, "run")));
    }
    let causes: Vec<String> = cell
        .violations_by_cause
        .iter()
        .map(|(cause, runs)| format!("{cause} {}", thousands(*runs)))
        .collect();
    if !causes.is_empty() {
        found.push(format!("{DIM}by {}{DIM:#}", causes.join(", ")));
    }
    found.extend(verdict);
    found.extend(unknown.map(|one| format!("all unknown: in seed {}, {}", one.seed, one.reason)));
    if cell.violated == 0 {
        let limits = cell.blind_spots.iter();
        found.extend(limits.map(|limit| format!("{DIM}not tested: {limit}{DIM:#}")));
        found
            .extend(explored(cell, scenario).into_iter().map(|text| format!("{DIM}{text}{DIM:#}")));
    }
    found.extend(cell.failure_in_words().map(|words| format!("{YELLOW}{words}{YELLOW:#}")));
    found.extend(seeds_to_first(cell).map(|text| format!("{DIM}{text}{DIM:#}")));
    for deviation in cell.expectation.iter().flat_map(|held| &held.deviations) {
        found.push(format!("{RED}not as expected{RED:#}: {deviation}"));
    }
    let indent: usize = widths.iter().sum::<usize>() + 2 * (widths.len() - 1);
    for (index, found) in found.iter().enumerate() {
        match index {
            0 => writeln!(out, "{}  {found}", line(row, widths, Some(style)))?,
            _ => writeln!(out, "{:indent$}  {found}", "")?,
        }
    }
    Ok(())
}

fn explored(cell: &Cell, scenario: &Value) -> Vec<String> {
    let is_quiet = cell.valid > 0 && cell.violated == 0;
    if let Some(one) = counterexample(&cell.client, &cell.fault).filter(|_| is_quiet) {
        return vec!["one fault still breaks the lock:".to_owned(), one.command()];
    }
    let certificates = published(&cell.client, &cell.fault, scenario).filter(|_| is_quiet);
    let mut lines: Vec<String> = certificates
        .map(|one| format!("certified in small runs: {} (docs/{})", one.bounds, one.file()))
        .collect();
    if !lines.is_empty() {
        lines.push("random seeds sample all other plans".to_owned());
    }
    lines
}

fn write_foot(sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{DIM}A rate is the percentage of violated runs among the valid and violated ones, with \
         Wilson's interval. If no run is violated, the rate is below 3 divided by the number of \
         valid runs (95 %).{DIM:#}"
    )?;
    write_phases(sweep, out)?;
    if let Some(baseline) = &sweep.baseline {
        writeln!(out, "Against the baseline: A is {}, B is this sweep.", baseline.a.name)?;
        writeln!(out, "{}", comparison::table(baseline))?;
    }
    if let Some(missing) = sweep.missing_in_words() {
        writeln!(out, "{YELLOW}missing{YELLOW:#}: {missing}")?;
    }
    if let Some(speed) = sweep.measured.runs_per_second {
        writeln!(out, "{DIM}{speed:.0} runs per second.{DIM:#}")?;
    }
    let unexpected = sweep.cells.iter().find_map(|cell| {
        let held = cell.expectation.as_ref().filter(|held| !held.unexpected.is_empty());
        held.and_then(|_| Some((cell, cell.seed_to_show()?)))
    });
    let open = || {
        let cell = sweep.cells.iter().find(|cell| cell.has_open_finding())?;
        Some((cell, cell.seed_to_show()?))
    };
    let first = || {
        let mut cells = sweep.cells.iter();
        cells.find_map(|cell| Some((cell, *cell.first_seed.values().min()?)))
    };
    match unexpected.or_else(open).or_else(first) {
        None => Ok(()),
        Some((cell, seed)) => {
            let command = sweep.replay(cell, seed);
            writeln!(out, "see one: {BOLD}{command}{BOLD:#}")
        }
    }
}

fn write_phases(sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 2 + PHASES.len()]> = sweep.cells.iter().flat_map(phase_rows).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let head: Vec<String> =
        ["cell", "faults began"].into_iter().chain(PHASES).map(str::to_owned).collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].len()).chain([head[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    writeln!(out)?;
    writeln!(out, "{DIM}{}{DIM:#}", phase_line(&head, &widths))?;
    for row in &rows {
        writeln!(out, "{}", phase_line(row, &widths))?;
    }
    writeln!(out)
}

fn phase_rows(cell: &Cell) -> Vec<[String; 2 + PHASES.len()]> {
    let row = |(kind, phases): (&String, &BTreeMap<String, u64>)| {
        let count = |name: &str| thousands(phases.get(name).copied().unwrap_or(0));
        let [a, b, c, d, e, f] = PHASES.map(count);
        [format!("{} x {}", cell.client, cell.fault), kind.clone(), a, b, c, d, e, f]
    };
    cell.phases.iter().map(row).collect()
}

fn phase_line(row: &[String], widths: &[usize]) -> String {
    let cell = |(column, (text, width)): (usize, (&String, &usize))| match column {
        0 | 1 => format!("{text:<width$}"),
        _ => format!("{text:>width$}"),
    };
    row.iter().zip(widths).enumerate().map(cell).collect::<Vec<_>>().join("  ")
}
