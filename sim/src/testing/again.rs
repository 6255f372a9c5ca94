//! Repeats seeds of a test, and reports deviations from the expected result.

use super::Expect;
use super::failure::{Deviation, TestFailure, What};
use super::outcome::{Unexpected, unexpected};
use crate::diagnosis::{Rates, diagnose_with};
use crate::engine::Engine;
use crate::files::write_file;
use crate::run::parallel::in_parallel;
use crate::run::verdicts::{FinishedRun, config, recordings, report, tool};
use crate::run::{Recording, RunOutcome, RunSpec};
use crate::setup::scenario::Scenario;
use crate::studies::seed::{FailedRun, Ran};
use crate::studies::sweep::SweepSpec;
use fencepost_clients::Definition;
use fencepost_faults::{Families, FaultPlan, Seed};
use fencepost_reports::judge::phases::phases;
use fencepost_reports::show::format::{Detail, HTML, JSON, Needs, Page, TEXT};
use fencepost_reports::summary::sweep::{FORMAT, Measured, SeedRange, Shard, Sweep, VERSION};
use fencepost_reports::{Cell, Diagnosis, Kind, Report, RunFacts, RunSummary, Stages, Violation};
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub(super) struct Repetition<'t> {
    pub(super) lock: &'static Definition,
    pub(super) scenario: &'t Scenario,
    pub(super) folder: Option<PathBuf>,
    pub(super) plan: Option<&'t FaultPlan>,
}

impl Repetition<'_> {
    pub(super) fn show(
        &self,
        unexpected: Unexpected,
        families: &Families,
    ) -> Result<Deviation, TestFailure> {
        let what = match unexpected {
            Unexpected::Missing(kind, seeds) => What::Missing(kind, seeds),
            Unexpected::OtherCause(kind, cause, seeds) => What::OtherCause(kind, cause, seeds),
            Unexpected::Unexercised => What::Unexercised,
            Unexpected::Violated { seed, kind, runs } => {
                let (facts, outcome) = self.run(seed, families)?;
                let (replay, first) = (facts.replay.clone(), first(&facts, kind));
                let diagnosis = diagnosis(&self.spec(seed, families), first);
                let summary = first.map_or(String::new(), |first| first.summary.clone());
                let reports = self.write(seed, Stages { diagnosis, ..facts.into() }, outcome)?;
                What::Violated { seed: seed.0, kind, runs, summary, reports, replay }
            }
        };
        Ok(Deviation { client: self.lock.name.to_owned(), fault: families.to_string(), what })
    }

    pub(super) fn show_seed(
        &self,
        seed: Seed,
        cells: &[(&'static Definition, Families)],
        expect: &Expect,
    ) -> Result<Sweep, TestFailure> {
        let mut told = Vec::new();
        let mut deviations = Vec::new();
        for (_, families) in cells {
            let (facts, outcome) = self.run(seed, families)?;
            let mut cell = Cell::new(self.lock.name, &families.to_string());
            cell.add(&RunSummary { seed, run: &facts, phases: &phases(&outcome.history) });
            println!("{}", text(&self.report_of(seed, facts.into())));
            if let Some(unexpected @ Unexpected::Violated { .. }) = unexpected(&cell, expect) {
                deviations.push(self.show(unexpected, families)?);
            }
            told.push(cell);
        }
        if deviations.is_empty() {
            let to = Seed(seed.0.saturating_add(1));
            Ok(self.sum(SeedRange { from: seed, to }, told))
        } else {
            Err(TestFailure::Unexpected(deviations))
        }
    }

    pub(super) fn spec(&self, seed: Seed, families: &Families) -> RunSpec {
        let scenario = Rc::new(self.scenario.clone());
        match self.plan {
            Some(plan) => RunSpec::under(plan.clone(), seed, self.lock, families, scenario),
            None => RunSpec::draw(seed, self.lock, families, scenario),
        }
    }

    pub(super) fn sum_of(&self, sweep: &SweepSpec) -> Result<Sweep, TestFailure> {
        let seeds: Vec<Seed> = (sweep.seeds.from.0..sweep.seeds.to.0).map(Seed).collect();
        let mut cells = Vec::new();
        for (lock, families) in &sweep.cells {
            let mut cell = Cell::new(lock.name, &families.to_string());
            let one = |seed: &Seed| {
                let ran = Ran::of(self.spec(*seed, families), Engine::Fast)?;
                Ok((*seed, ran.facts(), phases(&ran.outcome.history)))
            };
            for told in in_parallel(sweep.jobs, &seeds, one) {
                let (seed, run, phases) = told.map_err(TestFailure::Run)?;
                cell.add(&RunSummary { seed, run: &run, phases: &phases });
            }
            cells.push(cell);
        }
        Ok(self.sum(sweep.seeds, cells))
    }

    fn run(&self, seed: Seed, families: &Families) -> Result<(RunFacts, RunOutcome), TestFailure> {
        let spec = self.spec(seed, families);
        let failed = |error| TestFailure::Run(FailedRun::of(&spec, error));
        let outcome = spec.run_recording(Engine::Fast, Recording::Wire).map_err(failed)?;
        let other = spec.run(Engine::Turmoil).map_err(failed)?;
        if other.history != outcome.history {
            return Err(TestFailure::Nondeterministic {
                run: format!("seed {seed}, fault {families}"),
            });
        }
        let replay = replay_line(seed, families);
        let facts = FinishedRun { spec: &spec, outcome: &outcome }.facts_shown_by(replay);
        Ok((facts, outcome))
    }

    fn report_of(&self, seed: Seed, run: Stages) -> Report {
        report(seed, Engine::Fast, self.scenario, vec![run.into()])
    }

    fn write(
        &self,
        seed: Seed,
        run: Stages,
        outcome: RunOutcome,
    ) -> Result<Vec<PathBuf>, TestFailure> {
        let folder = self.folder.clone().unwrap_or_else(folder);
        let stem = format!("{}-{}-{seed}", run.facts.client, run.facts.fault);
        let mut paths = Vec::new();
        for format in [JSON, HTML] {
            let recordings = recordings(outcome.clone(), format.needs().max(Needs::History));
            let report = self.report_of(seed, Stages { recordings, ..run.clone() });
            let mut content = Vec::new();
            format.write_run(&report, &mut content).expect("a growing buffer takes everything");
            let path = folder.join(format!("{stem}.{}", format.name()));
            write_file(&path, &content).map_err(TestFailure::Report)?;
            paths.push(path);
        }
        Ok(paths)
    }

    fn sum(&self, range: SeedRange, cells: Vec<Cell>) -> Sweep {
        Sweep {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: tool(),
            config: config(self.scenario),
            checksum: None,
            seeds: range,
            gaps: Vec::new(),
            shard: Shard::WHOLE,
            whole: Some(range),
            complete: true,
            cells,
            baseline: None,
            measured: Measured::default(),
        }
    }
}

fn first(facts: &RunFacts, kind: Kind) -> Option<&Violation> {
    facts.violations.iter().find(|one| one.kind == kind)
}

fn diagnosis(spec: &RunSpec, violation: Option<&Violation>) -> Diagnosis {
    diagnose_with(&Rates::default(), spec, violation.map_or(&[], std::slice::from_ref))
}

fn text(report: &Report) -> String {
    let mut text = Vec::new();
    let page = Page { detail: Detail::Full, ..Page::default() };
    TEXT.write_run_in(page, report, &mut text).expect("a growing buffer takes everything");
    anstream::adapter::strip_str(&String::from_utf8_lossy(&text)).to_string()
}

fn replay_line(seed: Seed, families: &Families) -> String {
    let executable = std::env::current_exe().unwrap_or_default();
    let thread = std::thread::current();
    let test = thread.name().filter(|name| *name != "main");
    let package = std::env::var("CARGO_PKG_NAME").ok();
    command(&executable, test, package.as_deref(), seed, families)
}

fn command(
    executable: &Path,
    test: Option<&str>,
    package: Option<&str>,
    seed: Seed,
    families: &Families,
) -> String {
    let variables = format!("FENCEPOST_SEED={seed} FENCEPOST_FAULT={families}");
    match (test, package) {
        (Some(test), Some(package)) => {
            let target = target(executable);
            format!("{variables} cargo test -p {package}{target} {test} -- --exact --nocapture")
        }
        (Some(test), None) => {
            format!("{variables} {} {test} --exact --nocapture", executable.display())
        }
        (None, _) => format!("{variables} {}", executable.display()),
    }
}

fn target(executable: &Path) -> String {
    let folder = executable.parent().and_then(Path::file_name).unwrap_or_default();
    let name = executable.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.rsplit_once('-').map_or(name.as_str(), |(name, _)| name);
    match folder.to_str() {
        Some("examples") => format!(" --example {name}"),
        _ => String::new(),
    }
}

fn folder() -> PathBuf {
    let executable = std::env::current_exe().unwrap_or_default();
    let inside = executable
        .parent()
        .filter(|folder| folder.ends_with("deps") || folder.ends_with("examples"));
    let target = inside.and_then(|folder| folder.ancestors().nth(2));
    target.unwrap_or(Path::new("target")).join("fencepost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_names_the_seed_the_fault_and_the_test() {
        let families: Families = "pause+failover".parse().unwrap();
        let of = |path: &str, test, package| {
            command(Path::new(path), test, package, Seed(17), &families)
        };
        let variables = "FENCEPOST_SEED=17 FENCEPOST_FAULT=pause+failover";
        assert_eq!(
            of("/t/debug/deps/mine-0f", Some("safe"), Some("acme")),
            format!("{variables} cargo test -p acme safe -- --exact --nocapture")
        );
        assert_eq!(
            of("/t/debug/examples/your_lock-0f", Some("safe"), Some("acme")),
            format!(
                "{variables} cargo test -p acme --example your_lock safe -- --exact --nocapture"
            )
        );
        assert_eq!(
            of("/t/x", Some("safe"), None),
            format!("{variables} /t/x safe --exact --nocapture")
        );
        assert_eq!(of("/t/x", None, Some("acme")), format!("{variables} /t/x"));
    }
}
