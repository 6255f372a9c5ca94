//! `fencepost reality`: violations of simulated servers, against the real ones.

use super::arguments::RealityArguments;
use super::options::{clients, families};
use super::output::{log, print};
use super::scenario_file::scenario;
use super::{Failure, Outcome};
use crate::hosts::real::trial;
use crate::run::fit::fits;
use crate::setup::scenario::{RealServers, Scenario, ServersArgument};
use crate::studies::reality::{Found, Real, reality};
use fencepost_clients::Coordinator;
use std::fmt::Write;
use std::rc::Rc;

/// Plays the minimal plan of one violation of each lock and fault against both, and prints a table.
/// Ends with 1 if any real server does something else.
pub(crate) fn run(arguments: &RealityArguments) -> Result<Outcome, Failure> {
    let scenario = Rc::new(scenario(&arguments.deployment)?);
    let (clients, families) = (clients(&arguments.client, None)?, families(&arguments.fault)?);
    let binaries = binaries(&arguments.servers)?;
    let real = Scenario { binaries: binaries.clone(), ..(*scenario).clone() };
    let cells: Vec<_> = clients
        .into_iter()
        .flat_map(|client| families.iter().map(move |families| (client, families)))
        .collect();
    cells
        .iter()
        .try_for_each(|(client, families)| fits(&real, client, families).map_err(Failure::wrong))?;
    let mut table = String::from(HEAD);
    let (mut same, mut other) = (0, 0);
    for (client, families) in cells {
        let seeds = arguments.seeds.0..arguments.seeds.1;
        let found = reality(client, families, (&scenario, &binaries), seeds)?;
        let Some(found) = found else {
            log(format_args!("{} under {families}: the fake shows no violation", client.name));
            continue;
        };
        match found.real {
            Real::Same => same += 1,
            _ => other += 1,
        }
        let _ = writeln!(table, "{}", row(client.name, &families.to_string(), &found));
    }
    let _ = writeln!(table, "\n{same} of {} the same", same + other);
    print(&table)?;
    Ok(match (same, other) {
        (0, 0) => Outcome::Unknown,
        (_, 0) => Outcome::AsExpected,
        _ => Outcome::Violated,
    })
}

const HEAD: &str = "\
| lock | fault | seed | the fake shows | faults | the real server |
| --- | --- | ---: | --- | ---: | --- |
";

fn row(client: &str, families: &str, found: &Found) -> String {
    let real = match &found.real {
        Real::Same => "the same violation".to_owned(),
        Real::Another { kind, cause } => {
            format!("another: {} by {}", kind.name(), cause.name())
        }
        Real::None => "no violation".to_owned(),
        Real::CannotBePlayed(why) => format!("cannot be played: {why}"),
    };
    let shown = format!("{} by {}", found.kind.name(), found.cause.name());
    let (seed, faults) = (found.seed, found.faults);
    format!("| {client} | {families} | {seed} | {shown} | {faults} | {real} |")
}

fn binaries(servers: &str) -> Result<RealServers, Failure> {
    let argument = ServersArgument::parse(servers).map_err(Failure::wrong)?;
    let binary = trial::binary(&argument).map_err(Failure::wrong)?;
    let binary = binary.ok_or_else(|| {
        Failure::wrong("--servers 'fake': expected real, or redis=PATH, to compare the fake with")
    })?;
    Ok(RealServers::from([(Coordinator::Redis.name().to_owned(), binary)]))
}
