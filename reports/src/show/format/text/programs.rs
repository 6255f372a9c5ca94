use super::layout::{DIM, RED};
use crate::record::programs::ProgramReport;
use crate::summary::report::RunReport;
use crate::summary::verdict::Verdict;
use fencepost_faults::SimTime;
use std::io::{self, Write};

const LINES_SHOWN: usize = 12;
const LETTERS_SHOWN: usize = 400;

pub(crate) fn write_failures(run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    write_difference(run, out)?;
    // If the verdict is unknown, its reason usually names the first failure.
    let told = usize::from(matches!(run.verdict, Verdict::Unknown { .. }));
    for program in run.programs.iter().filter(|program| program.failed).skip(told) {
        let error =
            program.error.as_ref().map_or(String::new(), |line| format!(": {}", shown(line)));
        writeln!(out, "  {} {}{error}", program.process, ending(program))?;
    }
    run.programs.iter().try_for_each(|program| write_interruptions(program, out))
}

pub(crate) fn write_output(run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    write_difference(run, out)?;
    run.programs.iter().try_for_each(|program| write_one(program, out))
}

fn write_difference(run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    match &run.not_reproducible {
        Some(difference) => {
            writeln!(out, "  {RED}not reproducible{RED:#}: two runs differ at {difference}")
        }
        None => Ok(()),
    }
}

fn write_interruptions(program: &ProgramReport, out: &mut dyn Write) -> io::Result<()> {
    match program.preempted {
        0 => Ok(()),
        times => writeln!(
            out,
            "  {}: a thread waited in a loop for another thread and was interrupted {times} times",
            program.process
        ),
    }
}

fn ending(program: &ProgramReport) -> String {
    match (&program.ending, program.ended_us) {
        (Some(ending), Some(at)) => format!("{ending} at {}", seconds(at)),
        _ => "ran until the end of the run".to_owned(),
    }
}

fn write_one(program: &ProgramReport, out: &mut dyn Write) -> io::Result<()> {
    let is_worth_telling = program.failed || !program.output.is_empty() || program.preempted > 0;
    if !is_worth_telling {
        return Ok(());
    }
    let started = seconds(program.started_us);
    writeln!(out, "  {}, started at {started}, {}", program.process, ending(program))?;
    write_interruptions(program, out)?;
    let hidden = program.output.len().saturating_sub(LINES_SHOWN);
    if hidden > 0 {
        writeln!(out, "    {DIM}{hidden} lines before these{DIM:#}")?;
    }
    for line in &program.output[hidden..] {
        writeln!(out, "    {DIM}{}{DIM:#} {}", seconds(line.time_us), shown(&line.text))?;
    }
    if program.output_dropped > 0 {
        writeln!(out, "    {DIM}and {} more bytes, not kept{DIM:#}", program.output_dropped)?;
    }
    Ok(())
}

fn shown(text: &str) -> String {
    let is_kept = |letter: &char| *letter == '\t' || !letter.is_control();
    let mut letters = text.chars().filter(is_kept);
    let mut shown: String = letters.by_ref().take(LETTERS_SHOWN).collect();
    let hidden = letters.count();
    if hidden > 0 {
        shown.push_str(&format!(" ... and {hidden} more characters"));
    }
    shown
}

fn seconds(at: SimTime) -> String {
    format!("{}.{:03} s", at.0 / 1_000_000, at.0 / 1_000 % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_and_what_a_terminal_would_obey_is_left_out() {
        assert_eq!(shown("plain, and\ta tab"), "plain, and\ta tab");
        assert_eq!(shown("\u{1b}[2Jgone\u{7}"), "[2Jgone");
        let long = shown(&"x".repeat(LETTERS_SHOWN + 5));
        assert_eq!(long, format!("{} ... and 5 more characters", "x".repeat(LETTERS_SHOWN)));
    }
}
