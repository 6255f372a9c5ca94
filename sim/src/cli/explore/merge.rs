use super::conclude::{Formats, Order};
use crate::cli::arguments::MergeArguments;
use crate::cli::{Failure, Outcome};
use crate::studies::explore::partial::merge;
use fencepost_reports::documents::certificate::read_unfinished;
use fencepost_reports::documents::read::read_report;
use fencepost_reports::summary::sweep::{Gaps, Shard};

const COUNTEREXAMPLE: &str =
    "this shard found a counterexample, so the shards together give no certificate";

pub(crate) fn merge_explorations(
    arguments: &MergeArguments,
    texts: &[String],
    gaps: Gaps,
) -> Result<Outcome, Failure> {
    if arguments.expect.is_some() {
        return Err(Failure::wrong(
            "--expect applies only to sweeps, but these files are explorations: remove --expect",
        ));
    }
    let read = arguments.files.iter().zip(texts).map(|(path, text)| {
        read_unfinished(text).map_err(|error| match read_report(text) {
            Ok(_) => Failure::content(path, COUNTEREXAMPLE),
            Err(_) => Failure::content(path, error),
        })
    });
    let partials = read.collect::<Result<Vec<_>, _>>()?;
    let merged = merge(&partials, gaps);
    let merged = merged.map_err(|(place, why)| Failure::content(&arguments.files[place], why))?;
    let formats = Formats::named(&arguments.format)?;
    let (bounds, conditions) = (&merged.bounds, merged.conditions);
    let order = Order { bounds, conditions, shard: Shard::WHOLE, formats };
    order.conclude(&merged.ledger, Some("some units are missing"))
}
