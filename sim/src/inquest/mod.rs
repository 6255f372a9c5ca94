//! What only running again can show of a violation: the smallest run that has it, how much is just
//! enough, which fault and which order of events it needs, and what would have prevented it. Must
//! never know how any of it is shown.
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
pub use remedy::remedies;
pub use safeguard::{SAFEGUARDS, Safeguard};
pub use target::Target;

use crate::engine::Engine;
use crate::run::RunSpec;
use fencepost_reports::report::MinimalRun;
use fencepost_reports::{RunReport, ViolationReport, digest};

/// Fills in, for every violation of a run, what running it again shows. The report must be that of
/// the spec.
pub fn inquire(spec: &RunSpec, run: &mut RunReport) {
    for violation in &mut run.violations {
        inquire_one(spec, violation);
    }
}

/// The same for one violation. Leaves it as it is if the fast engine does not show it.
pub fn inquire_one(spec: &RunSpec, report: &mut ViolationReport) {
    let target = Target { kind: report.violation.kind, cause: report.violation.cause };
    let Some(minimal) = minimise(spec, target) else { return };
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
    report.but_for = but_for::but_for(&minimal.spec, target);
    report.necessary_order = order::necessary_order(&minimal.spec, target);
    report.remedies = remedy::remedies(&minimal.spec, target, &outcome.history);
    report.minimal_plan = Some(minimal.spec.plan);
}
