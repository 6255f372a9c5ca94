//! Finds the faults that a violation needs, by removing each and, in small plans, each pair.

use super::minimal::with_plan;
use super::target::{Memory, Target};
use crate::run::RunSpec;
use fencepost_faults::FaultPlan;
use fencepost_reports::summary::report::ButFor;

const PAIRS_UP_TO: usize = 6;

pub(super) fn but_for(memory: &Memory, spec: &RunSpec, target: Target) -> Vec<ButFor> {
    let ids: Vec<u32> = spec.plan.faults.iter().map(|timed| timed.id).collect();
    let without = |fault: u32, and_fault: Option<u32>| {
        let is_kept = |id: u32| id != fault && Some(id) != and_fault;
        let kept = spec.plan.faults.iter().filter(|timed| is_kept(timed.id)).cloned().collect();
        let reduced = with_plan(spec, &FaultPlan::new(kept));
        ButFor {
            fault,
            and_fault,
            violation_without_it: memory.shows(&reduced, target),
            other_cause: memory.other_cause(&reduced, target),
        }
    };
    let mut all: Vec<ButFor> = ids.iter().map(|fault| without(*fault, None)).collect();
    if ids.len() <= PAIRS_UP_TO {
        for (place, fault) in ids.iter().enumerate() {
            all.extend(ids[place + 1..].iter().map(|other| without(*fault, Some(*other))));
        }
    }
    all
}
