//! The published JSON.

use super::{RunFormat, SweepFormat};
use crate::record::visible::visible_json;
use crate::summary::report::Report;
use crate::summary::sweep::Sweep;
use serde::Serialize;
use std::io::{self, Write};

/// One object, indented by two blanks, and a line feed.
pub(super) struct Json;

impl RunFormat for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn about(&self) -> &'static str {
        "one JSON object, for scripts; see `fencepost schema`"
    }

    fn write_run(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        write(report, out)
    }
}

impl SweepFormat for Json {
    fn tells_of_baselines(&self) -> bool {
        true
    }

    fn write_sweep(&self, sweep: &Sweep, out: &mut dyn Write) -> io::Result<()> {
        write(&sweep.sealed()?, out)
    }
}

fn write(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    writeln!(out, "{}", visible_json(&text))
}
