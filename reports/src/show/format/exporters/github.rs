//! Writes workflow commands for GitHub Actions, which shows them as annotations of the run.
//! "Workflow commands for GitHub Actions" documents the format: `::error title=T::message`. The
//! escaping follows `escapeData` and `escapeProperty` of actions/toolkit
//! (`packages/core/src/command.ts`).

use crate::show::format::{Format, Needs, Page, Sweeps};
use crate::show::view::View;
use crate::summary::report::{Report, RunReport};
use crate::summary::sweep::{Standing, Sweep};
use crate::summary::verdict::Verdict;
use std::io::{self, Write};

#[derive(Clone, Copy)]
enum Level {
    Error,
    Warning,
    Notice,
}

pub(crate) const FORMAT: Format = Format {
    about: "GitHub annotations: an error for each violation (with --expect: for each deviation), \
     with the replay command",
    needs: Needs::Findings,
    runs: View::written("github", write_report),
    sweeps: Some(Sweeps { view: SWEEPS, has_baselines: false }),
};

const SWEEPS: View<Sweep> = View::written("github", write_sweep);

fn write_report(_: Page, report: &Report, out: &mut dyn Write) -> io::Result<()> {
    report.runs.iter().try_for_each(|run| write_run(run, out))
}

fn write_sweep(_: Page, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
    for cell in &sweep.cells {
        let mut said = cell.in_words();
        if let Some(seed) = cell.seed_to_show() {
            said = format!("{said}\n{}", sweep.replay(cell, seed));
        }
        let level = match cell.standing() {
            Standing::Failed => Level::Error,
            Standing::Unknown => Level::Warning,
            Standing::Passed if cell.violated > 0 => Level::Notice,
            Standing::Passed => continue,
        };
        annotate(level, (&cell.client, &cell.fault), &said, out)?;
    }
    let missing = sweep.missing_in_words();
    missing.map_or(Ok(()), |missing| writeln!(out, "::warning::{}", data(&missing)))
}

fn write_run(run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    let names = (run.client.as_str(), run.fault.as_str());
    if let Some(held) = &run.expectation {
        let replay =
            run.replay_of_deviation().map_or(String::new(), |command| format!("\n{command}"));
        let said =
            |deviation: &String| format!("expected {}, got {deviation}{replay}", held.expected);
        return held
            .deviations
            .iter()
            .try_for_each(|deviation| annotate(Level::Error, names, &said(deviation), out));
    }
    if let Verdict::Unknown { reason } = &run.verdict {
        return annotate(Level::Warning, names, &format!("unknown: {reason}"), out);
    }
    for report in &run.violations {
        let violation = &report.violation;
        let said = format!(
            "{} by {}: {}\n{}",
            violation.kind, violation.cause, violation.summary, report.replay
        );
        annotate(Level::Error, names, &said, out)?;
    }
    Ok(())
}

fn annotate(
    level: Level,
    (client, fault): (&str, &str),
    message: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let command = match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Notice => "notice",
    };
    writeln!(
        out,
        "::{command} title={}::{}",
        property(&format!("{client} x {fault}")),
        data(message)
    )
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::summary::sweep::Wanted;

    fn lines(sweep: &Sweep) -> Vec<String> {
        let mut out = Vec::new();
        SWEEPS.write_in(Page::default(), sweep, &mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn violated_cells_are_errors_and_idle_ones_warnings() {
        assert_eq!(
            lines(&samples::sweep(0, 9)),
            [
                "::error title=single-node x pause::3 of 9 runs violated: overlap in 3, \
                 stale-write in 3, lost-update in 3\
                 %0Afencepost --seed 2 --client single-node --fault pause",
                "::warning title=fencing x pause::all of 9 runs unknown: in seed 0, only client-1 \
                 acquired the lock; at least two processes must compete: use more processes \
                 (--processes), more cycles (--cycles) or a longer run (--max-time)",
            ]
        );
    }

    #[test]
    fn what_was_expected_is_a_notice() {
        let mut sweep = samples::sweep(0, 9);
        sweep.cells[0].expectation = Some(Wanted::Violated.hold(&sweep.cells[0]));
        sweep.cells[1].expectation = Some(Wanted::Violated.hold(&sweep.cells[1]));
        let lines = lines(&sweep);
        assert!(lines[0].starts_with("::notice title=single-node x pause::3 of 9"), "{lines:?}");
        assert_eq!(
            lines[1],
            "::error title=redlock x pause::expected violated, got no violation in 9 runs"
        );
    }

    #[test]
    fn seeds_that_were_not_run_are_a_warning() {
        let last = lines(&samples::stopped_sweep()).pop().unwrap();
        assert_eq!(last, "::warning::seeds 2..4 and 9..41 were not run");
    }

    #[test]
    fn a_deviation_of_a_run_has_its_replay_command() {
        let mut out = Vec::new();
        FORMAT.write_run(&samples::unexpected_report(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let said = "::expected safe, got overlap in 1 of 1 run, first in seed 7%0Afencepost replay \
                    out/single-node-pause-7.json\n";
        assert!(text.contains(said), "{text}");
    }

    #[test]
    fn a_run_is_an_annotation_for_each_violation() {
        let mut out = Vec::new();
        FORMAT
            .write_run(&samples::report(vec![samples::paused_holder(), samples::quiet()]), &mut out)
            .unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(
            text.lines().all(|line| line.starts_with("::error title=single-node x pause::")),
            "{text}"
        );
    }

    #[test]
    fn what_could_end_a_command_is_escaped() {
        assert_eq!(data("100 %\r\nb"), "100 %25%0D%0Ab");
        assert_eq!(property("a:b,c"), "a%3Ab%2Cc");
    }
}
