//! `fencepost merge`: the summaries of shards, added up. Must never know how they were made.

use super::arguments::MergeArguments;
use super::options::format;
use super::output::{print, read_file};
use super::sweep::outcome;
use super::{Failure, Outcome};
use fencepost_reports::read::read_sweep;
use fencepost_reports::sweep::{Gaps, merge as add_up};

/// Adds summaries up and prints the sum.
pub(crate) fn merge(arguments: &MergeArguments) -> Result<Outcome, Failure> {
    let format = format(&arguments.format)?;
    let mut sweeps = Vec::with_capacity(arguments.files.len());
    for path in &arguments.files {
        sweeps.push(read_sweep(&read_file(path)?).map_err(|error| Failure::content(path, error))?);
    }
    let gaps = if arguments.partial { Gaps::Allowed } else { Gaps::Refused };
    let sum = add_up(&sweeps, gaps).map_err(Failure::wrong)?;
    let mut text = Vec::new();
    format.write_sweep(&sum, &mut text).map_err(Failure::Output)?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(outcome(&sum))
}
