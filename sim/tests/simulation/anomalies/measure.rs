//! Looks for anomalies in random seeds.

use super::rows::Case;
use fencepost::{Engine, RunSpec};
use fencepost_faults::{Families, Seed};
use fencepost_reports::{Kind, Verdict, judge};
use std::ops::Range;
use std::rc::Rc;

/// What one run showed.
pub(crate) struct Shown {
    /// Every kind of violation.
    pub(crate) kinds: Vec<Kind>,
    /// Whether the run proves anything.
    pub(crate) exercised: bool,
}

impl Shown {
    /// Whether one of these was among it.
    pub(crate) fn any_of(&self, kinds: &[Kind]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(kind))
    }
}

/// Runs one seed of a case.
pub(crate) fn look(case: Case, fault: &str, seed: u64) -> Shown {
    let families: Families = fault.parse().expect("the family is in the table");
    let client = fencepost_clients::find(case.client).expect("the lock is in the table");
    let spec = RunSpec::draw(Seed(seed), client, &families, Rc::new((case.scenario)()));
    let judgement = judge(&spec.run(Engine::Fast).expect("the run comes to its end").history);
    let kinds = judgement.violations.iter().map(|violation| violation.kind).collect();
    Shown { kinds, exercised: !matches!(judgement.verdict, Verdict::Unknown { .. }) }
}

/// How many seeds of the range it takes to see one of these kinds.
pub(crate) fn seeds_to_first(
    case: Case,
    fault: &str,
    kinds: &[Kind],
    seeds: Range<u64>,
) -> Option<u64> {
    let found = seeds.clone().find(|seed| look(case, fault, *seed).any_of(kinds))?;
    Some(found - seeds.start + 1)
}
