//! The question that is put to every run of a diagnosis: is the same violation there?

use crate::engine::Engine;
use crate::run::RunSpec;
use fencepost_reports::{Cause, History, Kind, judge};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The violation that is looked for: with the client, its fingerprint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// The rule that is broken.
    pub kind: Kind,
    /// Why.
    pub cause: Cause,
}

impl Target {
    /// Whether the run of this spec breaks the same rule for the same cause. A spec that cannot be
    /// run does not.
    pub fn is_shown_by(self, spec: &RunSpec) -> bool {
        shown(spec).contains(&(self.kind, self.cause))
    }
}

/// Every rule that the run breaks, with the cause.
fn shown(spec: &RunSpec) -> BTreeSet<(Kind, Cause)> {
    let Some(history) = history(spec) else { return BTreeSet::new() };
    judge(&history).violations.iter().map(|one| (one.kind, one.cause)).collect()
}

/// What the smaller runs of one run show. Its violations mostly have much of their search in
/// common, and no run is made twice.
#[derive(Default)]
pub struct Memory {
    shown: RefCell<BTreeMap<String, BTreeSet<(Kind, Cause)>>>,
}

impl Memory {
    /// Whether a run shows the target. All runs that are asked about have the same seed, lock and
    /// families, and of the scenario only processes and cycles differ.
    pub(super) fn shows(&self, spec: &RunSpec, target: Target) -> bool {
        let scenario = &spec.scenario;
        let plan = serde_json::json!(spec.plan);
        let key = format!("{} {} {plan}", scenario.processes, scenario.cycles);
        let known = self.shown.borrow().get(&key).cloned();
        let shown = known.unwrap_or_else(|| {
            let shown = shown(spec);
            self.shown.borrow_mut().insert(key, shown.clone());
            shown
        });
        shown.contains(&(target.kind, target.cause))
    }
}

/// Whether the history breaks the rule, for whatever cause.
pub(super) fn breaks(history: &History, kind: Kind) -> bool {
    judge(history).violations.iter().any(|violation| violation.kind == kind)
}

/// The history of a spec in the fast engine, if it can be run.
pub(super) fn history(spec: &RunSpec) -> Option<History> {
    spec.validate().ok()?;
    spec.run(Engine::Fast).ok().map(|outcome| outcome.history)
}
