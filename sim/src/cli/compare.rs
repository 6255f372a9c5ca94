use super::arguments::CompareArguments;
use super::counted::counted;
use super::lock_scripts::add_script;
use super::options::{client_of, families, view};
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

pub(crate) fn compare(arguments: &CompareArguments) -> Result<Outcome, Failure> {
    let view = view(VIEWS, &arguments.format)?;
    let (a, b) = (&arguments.a, &arguments.b);
    let (sweep_a, sweep_b) = match [a, b].map(|side| is_file(side)) {
        [true, true] => (sweep_in(Path::new(a))?, sweep_in(Path::new(b))?),
        [false, false] => both(a, b, arguments)?,
        _ => {
            return Err(Failure::wrong(format!(
                "'{a}' and '{b}': expected two locks or two sweep files, not one of each"
            )));
        }
    };
    let comparison =
        Comparison::of((a, &sweep_a), (b, &sweep_b), tool()).map_err(Failure::wrong)?;
    print(&view.write(&comparison).map_err(Failure::wrong)?)?;
    Ok(Outcome::AsExpected)
}

fn is_file(side: &str) -> bool {
    let path = Path::new(side);
    find(side).is_none()
        && !is_script(side)
        && (side == "-" || path.extension().is_some() || path.exists())
}

fn is_script(side: &str) -> bool {
    find(side).is_none() && Path::new(side).extension().is_some_and(|end| end == "lua")
}

fn both(a: &str, b: &str, arguments: &CompareArguments) -> Result<(Sweep, Sweep), Failure> {
    if a == b {
        return Err(Failure::wrong(format!("'{a}' is given twice: expected two different locks")));
    }
    let mut scenario = scenario(&arguments.deployment)?;
    let mut lock = |side: &str| {
        if side == "all" {
            return Err(Failure::wrong(
                "'all': expected one lock: a name from `fencepost list clients`, or a Lua file",
            ));
        }
        if !is_script(side) {
            return client_of(side, &scenario);
        }
        add_script(side, &mut scenario)?;
        Ok(scenario.scripts[scenario.scripts.len() - 1].definition())
    };
    let locks = [lock(a)?, lock(b)?];
    let faults = families(&arguments.fault)?;
    let cells =
        locks.iter().flat_map(|lock| faults.iter().map(|fault| (*lock, fault.clone()))).collect();
    let sum = counted(cells, scenario, arguments.seeds, arguments.jobs, arguments.quiet)?;
    let of = |name: &str| {
        let mut sweep = sum.clone();
        sweep.cells.retain(|cell| cell.client == name);
        sweep
    };
    Ok((of(locks[0].name), of(locks[1].name)))
}
