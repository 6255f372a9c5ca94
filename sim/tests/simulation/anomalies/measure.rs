use super::rows::Case;
use super::rows::written::Written;
use fencepost::{Engine, RunSpec};
use fencepost_reports::{Cause, Kind, Verdict, judge};
use std::ops::Range;

pub(crate) struct Shown {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) causes: Vec<Cause>,
    pub(crate) exercised: bool,
}

impl Shown {
    pub(crate) fn any_of(&self, kinds: &[Kind]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(kind))
    }
}

pub(crate) fn shown_under(case: Case, fault: &str, seed: u64) -> Shown {
    shown(&case.drawn(fault, seed))
}

pub(crate) fn shown_under_plan(written: &Written, case: Case, seed: u64) -> Shown {
    shown(&RunSpec { plan: (written.plan)(), ..case.drawn(written.families, seed) })
}

fn shown(spec: &RunSpec) -> Shown {
    let judgement = judge(&spec.run(Engine::Fast).expect("the run comes to its end").history);
    let found = judgement.violations.iter();
    let (kinds, causes) = found.map(|violation| (violation.kind, violation.cause)).unzip();
    let exercised = !matches!(judgement.verdict, Verdict::Unknown { .. });
    Shown { kinds, causes, exercised }
}

pub(crate) fn seeds_to_first(
    case: Case,
    fault: &str,
    kinds: &[Kind],
    seeds: Range<u64>,
) -> Option<u64> {
    let found = seeds.clone().find(|seed| shown_under(case, fault, *seed).any_of(kinds))?;
    Some(found - seeds.start + 1)
}
