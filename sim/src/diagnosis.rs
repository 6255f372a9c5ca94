//! What only running again can show of a violation: the smallest run that has it, how much is just
//! enough, which fault and which order of events it needs, and what the safeguards that the
//! field recommends do to it.
//!
//! Everything is asked of the fast engine and depends on the run alone, so the answers are the same
//! whoever asks, and in whatever order.

mod boundary;
mod but_for;
mod minimal;
mod order;
mod remedy;
mod safeguard;
mod target;
mod variation;

pub use minimal::{Minimal, SEARCH_RUNS_MAX, minimise};
pub use remedy::{Extent, OTHER_SEEDS_FROM, Rates, Trials};
pub use safeguard::{SAFEGUARDS, Safeguard};
pub use target::{Memory, Target};

use crate::engine::Engine;
use crate::run::RunSpec;
use fencepost_reports::summary::report::MinimalRun;
use fencepost_reports::{RunReport, ViolationReport, digest};
use minimal::minimise_with;

/// Fills in, for every violation of a run, what running it again shows. The report must be that of
/// the spec.
pub fn inquire(spec: &RunSpec, run: &mut RunReport) {
    inquire_with(&Rates::default(), spec, run);
}

/// The same, with the runs of other seeds that were made for an earlier run of the same lock,
/// faults and scenario.
pub fn inquire_with(rates: &Rates, spec: &RunSpec, run: &mut RunReport) {
    if run.violations.is_empty() {
        return;
    }
    let trials = Trials::new(spec, rates, Extent::REPORTS);
    let memory = Memory::default();
    for violation in &mut run.violations {
        inquire_one(spec, &memory, &trials, violation);
    }
}

/// The same for one violation of the run that the trials were made of. Leaves it as it is if the
/// fast engine does not show it.
pub fn inquire_one(spec: &RunSpec, memory: &Memory, trials: &Trials, report: &mut ViolationReport) {
    let target = Target { kind: report.violation.kind, cause: report.violation.cause };
    let Some(minimal) = minimise_with(memory, spec, target) else { return };
    let Ok(outcome) = minimal.spec.run(Engine::Fast) else { return };
    let scenario = &minimal.spec.scenario;
    report.minimal_run = Some(MinimalRun {
        processes: scenario.processes,
        cycles: scenario.cycles,
        history_digest: digest(&outcome.history),
        searched_runs: minimal.calls,
        complete: minimal.complete,
    });
    report.boundary = boundary::boundary(&minimal, target, &outcome.history);
    report.but_for = but_for::but_for(memory, &minimal.spec, target);
    report.necessary_order = order::necessary_order(&minimal.spec, target);
    report.remedies = trials.remedies(&report.violation);
    report.minimal_plan = Some(minimal.spec.plan);
}
