use super::arguments::MatrixArguments;
use super::counted::counted;
use super::lock_scripts::add_scripts;
use super::options::{clients, coordinator, families, kind, own_locks, programs, view};
use super::output::{log, make_folder, print, read_file};
use super::read::sweep_of;
use super::replay::scenario_in;
use super::scenario_file::scenario;
use super::{Failure, Outcome};
use crate::files::write_file;
use crate::hosts::programs::Program;
use crate::run::verdicts::conditions;
use crate::setup::scenario::Scenario;
use fencepost_clients::Definition;
use fencepost_faults::FAMILIES;
use fencepost_reports::documents::matrix::{Agreement, FORMAT, Matrix, VIEWS, stale};
use fencepost_reports::documents::read::read_matrix;
use fencepost_reports::judge::finding::Kind;
use fencepost_reports::show::view::View;
use fencepost_reports::summary::sweep::Sweep;
use std::path::Path;

pub(crate) fn matrix(arguments: &MatrixArguments) -> Result<Outcome, Failure> {
    let asked = view(VIEWS, &arguments.format)?;
    let of_kind = arguments.kind.as_deref().map(kind).transpose()?;
    let published =
        arguments.check.as_deref().map(|path| published(path, arguments)).transpose()?;
    if let (Some(path), Some(published)) = (&arguments.check, &published) {
        same_rule(path, published.kind, of_kind)?;
    }
    arguments.out.as_deref().map_or(Ok(()), make_folder)?;
    let matrix = match &arguments.from {
        Some(path) => matrix_in(path, of_kind)?,
        None => matrix_of_sweep("--set".as_ref(), &run(arguments, of_kind)?, of_kind)?,
    };
    if let Some(folder) = &arguments.out {
        for (format, file) in [("json", "matrix.json"), ("markdown", "matrix.md")] {
            let content = written(view(VIEWS, format)?, &matrix)?;
            write_file(&folder.join(file), content.as_bytes())?;
        }
    }
    match (&arguments.check, published) {
        (Some(path), Some(published)) => held(path, &published, &matrix),
        _ => {
            print(&written(asked, &matrix)?)?;
            let contradicts = matrix.count(Agreement::Contradicts) > 0;
            Ok(if contradicts { Outcome::Violated } else { Outcome::AsExpected })
        }
    }
}

const MATRIX: &str = "a matrix of `fencepost matrix --format json`";

fn matrix_in(path: &Path, kind: Option<Kind>) -> Result<Matrix, Failure> {
    let text = read_file(path, MATRIX)?;
    let is_matrix = serde_json::from_str::<serde_json::Value>(&text)
        .is_ok_and(|document| document.get("format").is_some_and(|format| format == FORMAT));
    if is_matrix {
        let matrix = read_matrix(&text).map_err(|error| Failure::content(path, error))?;
        if kind.is_some() {
            same_rule(path, matrix.kind, kind)?;
        }
        return Ok(matrix);
    }
    matrix_of_sweep(path, &sweep_of(path, &text)?, kind)
}

fn matrix_of_sweep(source: &Path, sweep: &Sweep, kind: Option<Kind>) -> Result<Matrix, Failure> {
    let scenario = scenario_in(source, &sweep.config)?;
    let Some(kind) = kind else { return Ok(Matrix::of(sweep, conditions(&scenario))) };
    check_judged(kind, &scenario)?;
    Ok(Matrix::of_kind(sweep, kind))
}

fn check_judged(kind: Kind, scenario: &Scenario) -> Result<(), Failure> {
    let Some(key) = kind.bound_key().filter(|_| !kind.has_default_bound()) else { return Ok(()) };
    if scenario.deviations().iter().any(|(set, _)| set == key) {
        return Ok(());
    }
    Err(Failure::wrong(format!("--kind '{kind}' needs a time bound: add --set {key}=DURATION")))
}

fn same_rule(path: &Path, counts: Option<Kind>, asked: Option<Kind>) -> Result<(), Failure> {
    if counts == asked {
        return Ok(());
    }
    let words = |kind: Option<Kind>| kind.map_or("any rule".to_owned(), |kind| kind.to_string());
    let valid = counts.map_or("no --kind".to_owned(), |kind| format!("--kind {kind}"));
    Err(Failure::wrong(format!(
        "{} counts violations of {}, not of {}: expected {valid}",
        path.display(),
        words(counts),
        words(asked)
    )))
}

fn written(view: &View<Matrix>, matrix: &Matrix) -> Result<String, Failure> {
    view.write(matrix).map_err(Failure::wrong)
}

fn published(path: &Path, arguments: &MatrixArguments) -> Result<Matrix, Failure> {
    let text = read_file(path, MATRIX)?;
    let mut matrix = read_matrix(&text).map_err(|error| Failure::content(path, error))?;
    let has_own = !arguments.programs.program.is_empty() || !arguments.locks.lock.is_empty();
    if arguments.client.is_some() || arguments.coordinator.is_some() || has_own {
        let programs = own_programs(arguments)?;
        let mut scenario = Scenario { programs, ..Scenario::default() };
        add_scripts(&arguments.locks, &mut scenario)?;
        let asked = locks(arguments, &scenario)?;
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
        log(format_args!("stale: {line}"));
    }
    let (path, cells) = (path.display(), matrix.cells.len());
    if told.is_empty() {
        print(&format!("{path} is up to date: {cells} cells over seeds {}\n", matrix.seeds))?;
        return Ok(Outcome::AsExpected);
    }
    print(&format!(
        "{path} is stale in {} of {cells} cells: update it with `fencepost matrix --out DIR`\n",
        told.len()
    ))?;
    Ok(Outcome::Violated)
}

fn own_programs(arguments: &MatrixArguments) -> Result<Vec<Program>, Failure> {
    programs(&arguments.programs, coordinator(arguments.coordinator.as_deref())?)
}

fn locks(
    arguments: &MatrixArguments,
    scenario: &Scenario,
) -> Result<Vec<&'static Definition>, Failure> {
    let own = own_locks(scenario);
    let is_own_only = arguments.coordinator.is_none() && !own.is_empty();
    let all = if is_own_only { Vec::new() } else { vec!["all".to_owned()] };
    let names = arguments.client.clone().unwrap_or(all);
    let mut locks = clients(&names, coordinator(arguments.coordinator.as_deref())?)?;
    locks.extend(own);
    Ok(locks)
}

fn run(arguments: &MatrixArguments, kind: Option<Kind>) -> Result<Sweep, Failure> {
    let mut scenario = scenario(&arguments.deployment)?;
    kind.map_or(Ok(()), |kind| check_judged(kind, &scenario))?;
    scenario.programs = own_programs(arguments)?;
    add_scripts(&arguments.locks, &mut scenario)?;
    let all = || FAMILIES.iter().map(|family| family.name().to_owned()).collect();
    let faults = families(&arguments.fault.clone().unwrap_or_else(all))?;
    let locks = locks(arguments, &scenario)?;
    let cells: Vec<_> =
        locks.iter().flat_map(|lock| faults.iter().map(|fault| (*lock, fault.clone()))).collect();
    counted(cells, scenario, arguments.seeds, arguments.jobs, arguments.quiet)
}
