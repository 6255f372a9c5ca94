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
    let expectations = arguments.expect.as_deref().map(Expectations::read).transpose()?;
    let sum = add_up(&sweeps, gaps).map_err(Failure::wrong)?;
    conclude(sum, format, expectations.as_ref())
}
