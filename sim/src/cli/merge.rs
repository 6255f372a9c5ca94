//! `fencepost merge`: the summaries of shards, added up.

use super::arguments::MergeArguments;
use super::expect::Expectations;
use super::options::format_of_sweeps;
use super::read::sweep_in;
use super::sweep::conclude;
use super::{Failure, Outcome};
use fencepost_reports::summary::sweep::{Gaps, merge as add_up};

/// Adds summaries up and prints the sum.
pub(crate) fn merge(arguments: &MergeArguments) -> Result<Outcome, Failure> {
    let format = format_of_sweeps(&arguments.format)?;
    let mut sweeps = Vec::with_capacity(arguments.files.len());
    for path in &arguments.files {
        sweeps.push(sweep_in(path)?);
    }
    let gaps = if arguments.partial { Gaps::Allowed } else { Gaps::Refused };
    let sum = add_up(&sweeps, gaps).map_err(Failure::wrong)?;
    let names: Vec<&str> = sum.cells.iter().map(|cell| cell.client.as_str()).collect();
    let expectations = arguments.expect.as_deref();
    let expectations = expectations.map(|path| Expectations::read(path, &names)).transpose()?;
    conclude(sum, format, expectations.as_ref())
}
