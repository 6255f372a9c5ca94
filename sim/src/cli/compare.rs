//! `fencepost compare`: two locks, or two sweeps, side by side.

use super::arguments::CompareArguments;
use super::counted::counted;
use super::options::{client, families, view};
use super::output::print;
use super::read::sweep_in;
use super::scenario_file::scenario;
use super::{Failure, Outcome};
use crate::run::verdicts::tool;
use fencepost_clients::find;
use fencepost_reports::Sweep;
use fencepost_reports::show::format::compare::VIEWS;
use fencepost_reports::summary::sweep::Comparison;
use std::path::Path;

/// Compares them and prints the differences. A comparison has no verdict: exit status 0.
pub(crate) fn compare(arguments: &CompareArguments) -> Result<Outcome, Failure> {
    let view = view(VIEWS, &arguments.format)?;
    let (a, b) = (&arguments.a, &arguments.b);
    let (sweep_a, sweep_b) = match [a, b].map(|side| is_file(side)) {
        [true, true] => (sweep_in(Path::new(a))?, sweep_in(Path::new(b))?),
        [false, false] => both(a, b, arguments)?,
        _ => {
            return Err(Failure::wrong(format!(
                "'{a}' and '{b}': expected two locks, or the files of two sweeps, not one of each"
            )));
        }
    };
    let comparison =
        Comparison::of((a, &sweep_a), (b, &sweep_b), tool()).map_err(Failure::wrong)?;
    print(&view.write(&comparison).map_err(Failure::wrong)?)?;
    Ok(Outcome::AsExpected)
}

/// Returns whether it is meant as a file: no lock has this name, and it looks like a path or is
/// one.
fn is_file(side: &str) -> bool {
    let path = Path::new(side);
    find(side).is_none() && (side == "-" || path.extension().is_some() || path.exists())
}

/// Runs both locks over the same seeds under the same faults.
fn both(a: &str, b: &str, arguments: &CompareArguments) -> Result<(Sweep, Sweep), Failure> {
    let locks = [client(a)?, client(b)?];
    if a == b {
        return Err(Failure::wrong(format!("'{a}' twice: expected two different locks")));
    }
    let scenario = scenario(&arguments.deployment)?;
    let faults = families(&arguments.fault)?;
    let cells =
        locks.iter().flat_map(|lock| faults.iter().map(|fault| (*lock, fault.clone()))).collect();
    let sum = counted(cells, scenario, arguments.seeds, arguments.jobs, arguments.quiet)?;
    let of = |name: &str| {
        let mut sweep = sum.clone();
        sweep.cells.retain(|cell| cell.client == name);
        sweep
    };
    Ok((of(a), of(b)))
}
