//! Diagnoses a violation by repeating its run with changes, for example with fewer faults.

mod but_for;
mod minimal;
mod order;
mod remedy;
mod safeguard;
mod target;
mod threads;
mod threshold;
mod variation;

pub use minimal::{Minimal, SEARCH_RUNS_MAX, minimise};
pub use remedy::{Extent, OTHER_SEEDS_FROM, Rates, SafeguardTrials};
pub use safeguard::{SAFEGUARDS, Safeguard};
pub use target::{Memory, Target, cancel};
pub use threshold::cause_beyond;

use crate::engine::Engine;
use crate::run::RunSpec;
use fencepost_reports::summary::report::MinimalRun;
use fencepost_reports::{Diagnosis, RunFacts, Violation, ViolationDiagnosis, digest};
use minimal::minimise_with;

/// `facts` must come from a run of `spec`.
pub fn diagnose(spec: &RunSpec, facts: &RunFacts) -> Diagnosis {
    diagnose_with(&Rates::default(), spec, &facts.violations)
}

/// Diagnoses a plan from an exploration. Tries no other seeds, because no seed drew the plan.
pub fn diagnose_enumerated(spec: &RunSpec, facts: &RunFacts) -> Diagnosis {
    diagnose_within(Extent::ENUMERATED, &Rates::default(), spec, &facts.violations)
}

pub fn diagnose_with(rates: &Rates, spec: &RunSpec, violations: &[Violation]) -> Diagnosis {
    diagnose_within(Extent::REPORTS, rates, spec, violations)
}

fn diagnose_within(
    extent: Extent,
    rates: &Rates,
    spec: &RunSpec,
    violations: &[Violation],
) -> Diagnosis {
    if violations.is_empty() {
        return Diagnosis::default();
    }
    let trials = SafeguardTrials::new(spec, rates, extent);
    let memory = Memory::default();
    let diagnosed = violations.iter().filter_map(|violation| {
        Some((violation.id.clone(), diagnose_one(spec, &memory, &trials, violation)?))
    });
    let diagnosed = diagnosed.collect();
    match target::is_cancelled() {
        true => Diagnosis::default(),
        false => Diagnosis { violations: diagnosed, not_reproducible: None },
    }
}

/// Returns `None` if the diagnosis is cancelled, or if the fast engine does not show the violation.
pub fn diagnose_one(
    spec: &RunSpec,
    memory: &Memory,
    trials: &SafeguardTrials,
    violation: &Violation,
) -> Option<ViolationDiagnosis> {
    let target = Target { kind: violation.kind, cause: violation.cause };
    let minimal = minimise_with(memory, spec, target)?;
    let outcome = minimal.spec.run(Engine::Fast).ok()?;
    let scenario = &minimal.spec.scenario;
    let is_quick = scenario.binaries.is_empty();
    let threshold = || threshold::threshold(&minimal, target, &outcome.history);
    let order = || order::necessary_order(&minimal.spec, target);
    Some(ViolationDiagnosis {
        minimal_run: MinimalRun {
            processes: scenario.processes,
            cycles: scenario.cycles,
            involved: target.found_in(&outcome.history).map_or(Vec::new(), |one| one.processes),
            history_digest: digest(&outcome.history),
            searched_runs: minimal.calls,
            complete: minimal.complete,
        },
        boundary: is_quick.then(threshold).flatten(),
        but_for: but_for::but_for(memory, &minimal.spec, target),
        necessary_order: is_quick.then(order).unwrap_or_default(),
        remedies: trials.remedies(violation),
        minimal_plan: minimal.spec.plan,
    })
}
