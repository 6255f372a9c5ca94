//! Finds the faults that a violation needs, by leaving out each fault and each pair of faults.

use super::minimal::with_plan;
use super::target::{Memory, Target};
use crate::run::RunSpec;
use fencepost_faults::FaultPlan;
use fencepost_reports::summary::report::ButFor;

const PAIRS_UP_TO: usize = 6;

pub(super) fn but_for(memory: &Memory, spec: &RunSpec, target: Target) -> Vec<ButFor> {
    let ids: Vec<u32> = spec.plan.faults.iter().map(|timed| timed.id).collect();
    let without = |left_out: &[u32]| {
        let kept = spec
            .plan
            .faults
            .iter()
            .filter(|timed| !left_out.contains(&timed.id))
            .cloned()
            .collect();
        memory.shows(&with_plan(spec, &FaultPlan::new(kept)), target)
    };
    let single = |fault: &u32| ButFor {
        fault: *fault,
        and_fault: None,
        violation_without_it: without(&[*fault]),
    };
    let mut all: Vec<ButFor> = ids.iter().map(single).collect();
    if ids.len() <= PAIRS_UP_TO {
        for (place, fault) in ids.iter().enumerate() {
            for other in &ids[place + 1..] {
                let violation_without_it = without(&[*fault, *other]);
                all.push(ButFor { fault: *fault, and_fault: Some(*other), violation_without_it });
            }
        }
    }
    all
}
