//! What programs printed and how they ended, for people.

use super::layout::{DIM, RED};
use crate::record::programs::ProgramReport;
use crate::summary::report::RunReport;
use fencepost_faults::SimTime;
use std::io::{self, Write};

/// How many lines of one program are shown, the latest.
const LINES_SHOWN: usize = 12;

pub(super) fn write(run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    if let Some(difference) = &run.not_reproducible {
        writeln!(out, "  {RED}not reproducible{RED:#}: two runs differ at {difference}")?;
    }
    run.programs.iter().try_for_each(|program| write_one(program, out))
}

fn write_one(program: &ProgramReport, out: &mut dyn Write) -> io::Result<()> {
    let is_worth_telling = program.failed || !program.output.is_empty() || program.preempted > 0;
    if !is_worth_telling {
        return Ok(());
    }
    let ending = match (&program.ending, program.ended_us) {
        (Some(ending), Some(at)) => format!("{ending} at {}", seconds(at)),
        _ => "ran until its host crashed or the run was over".to_owned(),
    };
    let started = seconds(program.started_us);
    writeln!(out, "  {}, started at {started}, {ending}", program.process)?;
    if program.preempted > 0 {
        let times = program.preempted;
        writeln!(
            out,
            "    a thread used the processor for long and was interrupted {times} times: the run \
             may not be reproducible"
        )?;
    }
    let hidden = program.output.len().saturating_sub(LINES_SHOWN);
    if hidden > 0 {
        writeln!(out, "    {DIM}{hidden} lines before these{DIM:#}")?;
    }
    for line in &program.output[hidden..] {
        writeln!(out, "    {DIM}{}{DIM:#} {}", seconds(line.time_us), line.text)?;
    }
    if program.output_dropped > 0 {
        writeln!(out, "    {DIM}and {} bytes more, not kept{DIM:#}", program.output_dropped)?;
    }
    Ok(())
}

fn seconds(at: SimTime) -> String {
    format!("{}.{:03} s", at.0 / 1_000_000, at.0 / 1_000 % 1_000)
}
