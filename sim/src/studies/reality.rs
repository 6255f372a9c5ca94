//! Repeats the minimal plan of a simulated violation on real servers.

use crate::diagnosis::{Target, minimise};
use crate::engine::Engine;
use crate::hosts::programs::record::Life;
use crate::run::RunSpec;
use crate::run::parallel::in_parallel;
use crate::setup::scenario::{RealServers, Scenario};
use crate::studies::gallery::exhibit::Exhibit;
use crate::studies::gallery::{GalleryError, spec};
use crate::studies::seed::{FailedRun, Ran};
use fencepost_clients::Definition;
use fencepost_faults::{Families, Seed};
use fencepost_reports::documents::reality::{Outcome, Row, Timelines};
use fencepost_reports::summary::facts::side_by_side;
use fencepost_reports::{Cause, History, Kind, Verdict, judge};
use std::rc::Rc;

#[derive(Clone)]
pub struct Case {
    pub client: &'static Definition,
    pub families: Families,
}

/// Rows of the comparison that show both timelines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    Differences,
    All,
}

/// Repeats each case's first violation on real servers; `None` for a case without a violation.
pub fn compare_cases(
    cases: &[Case],
    scenario: &Scenario,
    binaries: &RealServers,
    seeds: &std::ops::Range<u64>,
    jobs: usize,
) -> Result<Vec<Option<Row>>, FailedRun> {
    let rows = in_parallel(jobs, cases, |case| first(case, scenario, binaries, seeds.clone()));
    rows.into_iter().collect()
}

fn first(
    case: &Case,
    scenario: &Scenario,
    binaries: &RealServers,
    seeds: std::ops::Range<u64>,
) -> Result<Option<Row>, FailedRun> {
    let scenario = Rc::new(scenario.clone());
    for seed in seeds.map(Seed) {
        let spec = RunSpec::draw(seed, case.client, &case.families, scenario.clone());
        let ran = Ran::of(spec, Engine::Fast)?;
        let facts = ran.facts();
        let Some(violation) = facts.violations.first() else { continue };
        let target = Target { kind: violation.kind, cause: violation.cause };
        return Ok(row(None, &ran.spec, target, binaries, Detail::Differences));
    }
    Ok(None)
}

pub fn compare_pages(
    pages: &[(&'static Exhibit, Detail)],
    binaries: &RealServers,
    jobs: usize,
) -> Result<Vec<Row>, GalleryError> {
    let rows = in_parallel(jobs, pages, |(page, detail)| {
        let target = page.target;
        let row = row(Some(page.name), &spec(page)?, target, binaries, *detail);
        row.ok_or(GalleryError::NotShown(page.name))
    });
    rows.into_iter().collect()
}

fn row(
    page: Option<&str>,
    spec: &RunSpec,
    target: Target,
    binaries: &RealServers,
    detail: Detail,
) -> Option<Row> {
    let minimal = minimise(spec, target)?.spec;
    let faults = minimal.plan.faults.len() as u64;
    let on_real = |spec: &RunSpec| {
        let scenario = Scenario { binaries: binaries.clone(), ..(*spec.scenario).clone() };
        let real = RunSpec { scenario: Rc::new(scenario), ..spec.clone() };
        played(&real, (target.kind, target.cause))
    };
    let (outcome, history) = on_real(&minimal);
    let real = match outcome {
        Outcome::Same => Outcome::Same,
        _ if on_real(spec).0 == Outcome::Same => Outcome::SameInWholeRun,
        other => other,
    };
    let is_shown = detail == Detail::All || !real.is_same();
    let history = history.filter(|_| is_shown);
    Some(Row {
        page: page.map(str::to_owned),
        client: spec.client.name.to_owned(),
        fault: spec.families.to_string(),
        seed: spec.seed,
        kind: target.kind,
        cause: target.cause,
        faults,
        real,
        timelines: history.and_then(|real| timelines(&minimal, target, &real)),
    })
}

fn timelines(minimal: &RunSpec, target: Target, real: &History) -> Option<Timelines> {
    let simulated = minimal.run(Engine::Fast).ok()?.history;
    let violations = judge(&simulated).violations;
    let is_target = |kind: Kind, cause: Cause| (kind, cause) == (target.kind, target.cause);
    let violation = violations.iter().find(|one| is_target(one.kind, one.cause))?;
    let [simulated, real] = side_by_side(violation, &simulated, real);
    Some(Timelines { simulated, real })
}

fn played(spec: &RunSpec, looked_for: (Kind, Cause)) -> (Outcome, Option<History>) {
    let cannot = |why: String| (Outcome::CannotBePlayed { why }, None);
    let coordinator = spec.client.deployment.coordinator().name();
    if !spec.scenario.binaries.contains_key(coordinator) {
        return cannot(format!("no real server of {coordinator}"));
    }
    if let Err(error) = spec.validate() {
        return cannot(error.to_string());
    }
    let outcome = match spec.run(Engine::Fast) {
        Ok(outcome) => outcome,
        Err(error) => return cannot(error.to_string()),
    };
    let failure = outcome.servers.iter().find_map(Life::failure);
    let judgement = judge(&outcome.history);
    let shown: Vec<(Kind, Cause)> =
        judgement.violations.iter().map(|one| (one.kind, one.cause)).collect();
    let result = match (failure, shown.first(), judgement.verdict) {
        (Some(why), ..) => Outcome::CannotBePlayed { why },
        _ if shown.contains(&looked_for) => Outcome::Same,
        (_, Some(&(kind, cause)), _) => Outcome::Another { kind, cause },
        (_, None, Verdict::Unknown { reason }) => Outcome::CannotBePlayed { why: reason },
        (_, None, _) => Outcome::None,
    };
    (result, Some(outcome.history))
}
