//! Repeats the seeds of known findings before a sweep, and adds the sweep's results to the store.

use super::store::{Store, today};
use crate::cli::output::{log, require_writable};
use crate::cli::progress::clock;
use crate::cli::{Failure, Outcome};
use crate::run::RunSpec;
use crate::studies::retest::shows;
use crate::studies::sweep::{Stop, SweepSpec};
use fencepost_clients::Definition;
use fencepost_faults::{Families, Seed};
use fencepost_reports::documents::findings::{Finding, Findings, Retest, Shown, common_options};
use fencepost_reports::summary::sweep::{FindingState, Sweep};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

pub(crate) struct Known {
    store: Store,
    findings: Findings,
}

/// Findings whose runs were repeated, and whether a repeated run still shows each finding.
pub(crate) struct Retested {
    options: String,
    shown: BTreeMap<String, bool>,
}

impl Known {
    pub(crate) fn read(path: &Path) -> Result<Known, Failure> {
        let store = Store::at(path);
        let findings = store.read()?;
        require_writable("--findings", path)?;
        Ok(Known { store, findings })
    }

    pub(crate) fn next_seed(&self) -> Seed {
        self.findings.next_seed()
    }

    /// Repeats the recorded runs of findings whose lock and faults this sweep covers. Starts no run
    /// after `deadline`; instead, logs the number of findings that it did not repeat.
    pub(crate) fn retest(
        &self,
        spec: &SweepSpec,
        stop: &Stop,
        deadline: Option<Instant>,
    ) -> Result<Retested, Failure> {
        let options = common_options(&spec.scenario.flags()).to_owned();
        let all = self.findings.by_urgency();
        let runs = all.into_iter().map(|finding| (finding, runs_of(finding, &options, spec)));
        let covered: Vec<_> = runs.filter(|(_, runs)| !runs.is_empty()).collect();
        let is_late = || deadline.is_some_and(|deadline| clock() >= deadline);
        let is_over = || stop.is_asked() || is_late();
        let mut shown = BTreeMap::new();
        for (place, (finding, runs)) in covered.iter().enumerate() {
            let Some(is_shown) = is_shown(finding, runs, spec, &is_over)? else {
                if is_late() {
                    note_not_repeated(covered.len() - place);
                }
                break;
            };
            if is_shown || runs.len() == finding.runs_with(&options).count() {
                shown.insert(finding.id.clone(), is_shown);
            }
        }
        Ok(Retested { options, shown })
    }

    pub(crate) fn mark(&self, sweep: &mut Sweep, retested: &Retested) -> Result<(), Failure> {
        let mut findings = self.findings.clone();
        enter(&mut findings, sweep, retested)?;
        findings.mark(sweep);
        Ok(())
    }

    pub(crate) fn enter(&self, sweep: &Sweep, retested: &Retested) -> Result<Outcome, Failure> {
        let (said, is_open) = self.store.change(|findings| {
            enter(findings, sweep, retested)?;
            let is_open = |id: &String| {
                findings.get(id).is_some_and(|one| one.state != FindingState::Accepted)
            };
            let shown = retested.shown.iter().filter(|(_, is_shown)| **is_shown);
            let is_open = shown.map(|(id, _)| id).any(is_open);
            Ok((counts(findings), is_open))
        })?;
        log(format_args!("{}: {said}", self.store.path().display()));
        Ok(if is_open { Outcome::Violated } else { Outcome::AsExpected })
    }
}

fn enter(findings: &mut Findings, sweep: &Sweep, retested: &Retested) -> Result<(), Failure> {
    let day = today()?;
    let seen = findings.add(sweep, &day);
    let Retested { options, shown } = retested;
    findings.enter_retest(&Retest { options, shown }, &seen, &day);
    Ok(())
}

fn note_not_repeated(count: usize) {
    let findings = if count == 1 { "finding" } else { "findings" };
    log(format_args!(
        "--time-budget ended before fencepost repeated the runs of {count} known {findings}"
    ));
}

pub(crate) fn counts(findings: &Findings) -> String {
    let counts = findings.counts();
    let said: Vec<String> =
        counts.iter().map(|(state, count)| format!("{count} {}", state.name())).collect();
    if said.is_empty() { "no findings".to_owned() } else { said.join(", ") }
}

type FindingRun<'r> = (&'r Shown, &'r (&'static Definition, Families));

/// Repeats runs until one of them shows the finding. Returns `None` if `is_over` returns `true`.
fn is_shown(
    finding: &Finding,
    runs: &[FindingRun<'_>],
    spec: &SweepSpec,
    is_over: &dyn Fn() -> bool,
) -> Result<Option<bool>, Failure> {
    let scenario = Rc::new(spec.scenario.clone());
    for (shown, (client, families)) in runs {
        if is_over() {
            return Ok(None);
        }
        let run = RunSpec::draw(shown.seed, client, families, scenario.clone());
        if shows(run, spec.engine, &finding.id)? {
            return Ok(Some(true));
        }
    }
    Ok(Some(false))
}

fn runs_of<'r>(finding: &'r Finding, options: &'r str, spec: &'r SweepSpec) -> Vec<FindingRun<'r>> {
    let cell_of = |shown: &Shown| {
        spec.cells.iter().find(|(client, families)| {
            client.name == finding.client && families.to_string() == shown.fault
        })
    };
    finding.runs_with(options).filter_map(|shown| Some((shown, cell_of(shown)?))).collect()
}
