use super::arguments::RealityArguments;
use super::options::{clients, families, view};
use super::output::{log, print};
use super::scenario_file::scenario;
use super::{Failure, Outcome};
use crate::hosts::real::{self, trial};
use crate::run::fit::fits;
use crate::run::verdicts::tool;
use crate::setup::scenario::{RealServers, Scenario};
use crate::studies::gallery::exhibit::Exhibit;
use crate::studies::gallery::exhibits::all;
use crate::studies::reality::{Case, Detail, compare_cases, compare_pages};
use fencepost_clients::{Coordinator, Definition, find};
use fencepost_reports::documents::reality::{RealServer, Reality, VIEWS};
use std::collections::BTreeSet;

pub(crate) fn run(arguments: &RealityArguments) -> Result<Outcome, Failure> {
    let view = view(VIEWS, &arguments.format)?;
    let scenario = scenario(&arguments.deployment)?;
    let cases = cases(arguments)?;
    let pages = pages(arguments)?;
    let used = cases.iter().map(|case| case.client).chain(pages.iter().map(|(_, lock)| *lock));
    let used: BTreeSet<Coordinator> = used.map(|lock| lock.deployment.coordinator()).collect();
    let binaries = binaries(arguments, &used)?;
    let real = Scenario { binaries: binaries.clone(), ..scenario.clone() };
    for case in &cases {
        fits(&real, case.client, &case.families).map_err(Failure::wrong)?;
    }
    let jobs = arguments.jobs.count();
    let detail = |page: &Exhibit| match arguments.page.iter().any(|name| name == page.name) {
        true => Detail::All,
        false => Detail::Differences,
    };
    let pages: Vec<(&Exhibit, Detail)> =
        pages.into_iter().map(|(page, _)| (page, detail(page))).collect();
    let mut rows = compare_pages(&pages, &binaries, jobs).map_err(Failure::wrong)?;
    let seeds = arguments.seeds.0..arguments.seeds.1;
    let of_cases = compare_cases(&cases, &scenario, &binaries, &seeds, jobs)?;
    for (case, row) in cases.iter().zip(&of_cases) {
        if row.is_none() {
            let (client, families) = (case.client.name, &case.families);
            log(format_args!("{client} under {families}: no violation on simulated servers"));
        }
    }
    rows.extend(of_cases.into_iter().flatten());
    conclude(&Reality::new(tool(), servers(&binaries), rows), |reality| {
        print(&view.write(reality).map_err(Failure::wrong)?)
    })
}

fn conclude(
    reality: &Reality,
    print: impl FnOnce(&Reality) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    print(reality)?;
    let all_same = reality.rows.iter().all(|row| row.real.is_same());
    Ok(match (reality.rows.is_empty(), all_same) {
        (true, _) => Outcome::Unknown,
        (false, true) => Outcome::AsExpected,
        (false, false) => Outcome::Violated,
    })
}

fn cases(arguments: &RealityArguments) -> Result<Vec<Case>, Failure> {
    let (clients, families) = (clients(&arguments.client, None)?, families(&arguments.fault)?);
    let of = |client| families.iter().map(move |one| Case { client, families: one.clone() });
    Ok(clients.into_iter().flat_map(of).collect())
}

fn pages(
    arguments: &RealityArguments,
) -> Result<Vec<(&'static Exhibit, &'static Definition)>, Failure> {
    let all = all();
    for name in &arguments.page {
        if !all.iter().any(|page| page.name == name) {
            let names: Vec<&str> = all.iter().map(|page| page.name).collect();
            let close = fencepost_faults::did_you_mean(name, names.iter().copied());
            return Err(Failure::wrong(format!(
                "--page '{name}'{close}: expected the name of a page in docs/gallery"
            )));
        }
    }
    let is_asked =
        |page: &&Exhibit| arguments.gallery || arguments.page.iter().any(|name| name == page.name);
    let with_lock = |page: &'static Exhibit| Some((page, find(page.run.client)?));
    let found = all.into_iter().filter(is_asked).filter_map(with_lock);
    Ok(found.filter(|(_, lock)| real::kind(lock.deployment.coordinator()).is_some()).collect())
}

fn binaries(
    arguments: &RealityArguments,
    coordinators: &BTreeSet<Coordinator>,
) -> Result<RealServers, Failure> {
    let binaries = trial::binaries(&arguments.servers, coordinators).map_err(Failure::wrong)?;
    if binaries.is_empty() {
        let text = "--servers 'fake': expected real or NAME=PATH, because `reality` compares \
                    simulated servers with real ones";
        return Err(Failure::wrong(text));
    }
    Ok(binaries)
}

fn servers(binaries: &RealServers) -> std::collections::BTreeMap<String, RealServer> {
    let server = |(coordinator, binary): (&String, &crate::setup::scenario::ServerBinary)| {
        let (name, version) = (binary.name.clone(), binary.version.clone());
        (coordinator.clone(), RealServer { name, version })
    };
    binaries.iter().map(server).collect()
}
