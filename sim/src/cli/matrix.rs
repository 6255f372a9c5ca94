//! `fencepost matrix`: every lock under every fault, held against the literature and against what
//! is published.

use super::arguments::MatrixArguments;
use super::options::{clients, coordinator, families, jobs, scenario};
use super::output::{print, read_file, tell, write_file};
use super::progress::{Progress, Talk};
use super::read::sweep_in;
use super::replay::scenario_in;
use super::{Failure, Outcome};
use crate::Engine;
use crate::fit::fits;
use crate::sweep::{Listener, Stop, SweepSpec, count};
use crate::verdicts::conditions;
use fencepost_clients::Definition;
use fencepost_faults::{FAMILIES, Seed};
use fencepost_reports::matrix::{Agreement, Matrix, html, markdown, stale, text};
use fencepost_reports::read::read_matrix;
use fencepost_reports::sweep::{SeedRange, Shard, Sweep};
use fencepost_reports::{RunReport, Verdict};
use std::path::Path;

/// Makes the matrix and prints it, or says whether a published one holds.
pub(crate) fn matrix(arguments: &MatrixArguments) -> Result<Outcome, Failure> {
    let write = match arguments.format.as_str() {
        "text" => text,
        "markdown" => markdown,
        "html" => html,
        "json" => json,
        other => {
            return Err(Failure::wrong(format!(
                "unknown format '{other}': expected text, markdown, json or html"
            )));
        }
    };
    let published =
        arguments.check.as_deref().map(|path| published(path, arguments)).transpose()?;
    let (source, sweep) = match &arguments.from {
        Some(path) => (path.clone(), sweep_in(path)?),
        None => ("--set".into(), run(arguments)?),
    };
    let scenario = scenario_in(&source, &sweep.config)?;
    let matrix = Matrix::of(&sweep, conditions(&scenario));
    if let Some(folder) = &arguments.out {
        write_file(&folder.join("matrix.json"), json(&matrix).as_bytes())?;
        write_file(&folder.join("matrix.md"), markdown(&matrix).as_bytes())?;
    }
    match (&arguments.check, published) {
        (Some(path), Some(published)) => held(path, &published, &matrix),
        _ => {
            print(&write(&matrix))?;
            let contradicts = matrix.count(Agreement::Contradicts) > 0;
            Ok(if contradicts { Outcome::Violated } else { Outcome::AsExpected })
        }
    }
}

fn json(matrix: &Matrix) -> String {
    format!("{:#}\n", serde_json::to_value(matrix).unwrap_or_default())
}

/// The published matrix: of its cells, those that were asked for.
fn published(path: &Path, arguments: &MatrixArguments) -> Result<Matrix, Failure> {
    let mut matrix =
        read_matrix(&read_file(path)?).map_err(|error| Failure::content(path, error))?;
    if arguments.client.is_some() || arguments.coordinator.is_some() {
        let asked = locks(arguments)?;
        matrix.cells.retain(|cell| asked.iter().any(|client| client.name == cell.client));
    }
    if let Some(names) = &arguments.fault {
        let asked = families(names)?;
        matrix.cells.retain(|cell| asked.iter().any(|families| families.to_string() == cell.fault));
    }
    Ok(matrix)
}

fn held(path: &Path, published: &Matrix, matrix: &Matrix) -> Result<Outcome, Failure> {
    let told = stale(published, matrix);
    for line in &told {
        tell(format_args!("stale: {line}"));
    }
    let (path, cells) = (path.display(), matrix.cells.len());
    if told.is_empty() {
        print(&format!("{path} holds: {cells} cells over seeds {}\n", matrix.seeds))?;
        return Ok(Outcome::AsExpected);
    }
    print(&format!(
        "{path} is stale in {} of {cells} cells: fencepost matrix --out DIR writes it anew\n",
        told.len()
    ))?;
    Ok(Outcome::Violated)
}

/// The locks that are asked for.
fn locks(arguments: &MatrixArguments) -> Result<Vec<&'static Definition>, Failure> {
    let names = arguments.client.clone().unwrap_or_else(|| vec!["all".to_owned()]);
    clients(&names, coordinator(arguments.coordinator.as_deref())?)
}

/// Runs the cells; nothing is made minimal.
fn run(arguments: &MatrixArguments) -> Result<Sweep, Failure> {
    let scenario = scenario(&arguments.deployment)?;
    let all = || FAMILIES.iter().map(|family| family.name().to_owned()).collect();
    let faults = families(&arguments.fault.clone().unwrap_or_else(all))?;
    let locks = locks(arguments)?;
    let cells: Vec<_> =
        locks.iter().flat_map(|lock| faults.iter().map(|fault| (*lock, fault.clone()))).collect();
    for (client, families) in &cells {
        fits(&scenario, client, families).map_err(Failure::wrong)?;
    }
    let (from, to) = arguments.seeds;
    let spec = SweepSpec {
        cells,
        scenario,
        engine: Engine::Fast,
        seeds: SeedRange { from: Seed(from), to: Seed(to) },
        shard: Shard::WHOLE,
        jobs: jobs(arguments.jobs),
        fail_fast: false,
        explains: false,
        violations_max: 0,
    };
    let talk = if arguments.quiet { Talk::Quiet } else { Talk::Progress };
    let watch = Watch(Progress::new(spec.seeds.len() * spec.cells.len() as u64, 0, talk));
    let result = count(&spec, &watch, &Stop::new());
    watch.0.finish();
    Ok(result?)
}

struct Watch(Progress);

impl Listener for Watch {
    fn run_done(&self, report: &RunReport, _: Seed) {
        self.0.run_done(report.verdict == Verdict::Violated);
    }
}
