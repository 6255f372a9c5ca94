use crate::engine::Engine;
use crate::run::RunSpec;
use fencepost_reports::{Cause, History, Kind, Violation, judge};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

static CANCELLED: AtomicBool = AtomicBool::new(false);

/// Ends all diagnoses of this process after their current runs.
pub fn cancel() {
    CANCELLED.store(true, Ordering::Relaxed);
}

pub(super) fn is_cancelled() -> bool {
    CANCELLED.load(Ordering::Relaxed)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    pub kind: Kind,
    pub cause: Cause,
}

impl Target {
    pub fn is_shown_by(self, spec: &RunSpec) -> bool {
        shown(spec).contains(&(self.kind, self.cause))
    }

    pub(super) fn other_cause(self, spec: &RunSpec) -> Option<Cause> {
        self.other_cause_in(&shown(spec))
    }

    fn other_cause_in(self, shown: &BTreeSet<(Kind, Cause)>) -> Option<Cause> {
        if shown.contains(&(self.kind, self.cause)) {
            return None;
        }
        shown.iter().find(|(kind, _)| *kind == self.kind).map(|(_, cause)| *cause)
    }

    pub(super) fn found_in(self, history: &History) -> Option<Violation> {
        let is_it = |one: &Violation| one.kind == self.kind && one.cause == self.cause;
        judge(history).violations.into_iter().find(is_it)
    }
}

fn shown(spec: &RunSpec) -> BTreeSet<(Kind, Cause)> {
    let Some(history) = history(spec) else { return BTreeSet::new() };
    judge(&history).violations.iter().map(|one| (one.kind, one.cause)).collect()
}

/// Cache of the violations in runs that differ only in their plan, processes and cycles.
#[derive(Default)]
pub struct Memory {
    shown: RefCell<BTreeMap<String, BTreeSet<(Kind, Cause)>>>,
}

impl Memory {
    pub(super) fn shows(&self, spec: &RunSpec, target: Target) -> bool {
        self.shown(spec).contains(&(target.kind, target.cause))
    }

    pub(super) fn other_cause(&self, spec: &RunSpec, target: Target) -> Option<Cause> {
        target.other_cause_in(&self.shown(spec))
    }

    fn shown(&self, spec: &RunSpec) -> BTreeSet<(Kind, Cause)> {
        let scenario = &spec.scenario;
        let plan = serde_json::json!(spec.plan);
        let key = format!("{} {} {plan}", scenario.processes, scenario.cycles);
        let known = self.shown.borrow().get(&key).cloned();
        known.unwrap_or_else(|| {
            let shown = shown(spec);
            self.shown.borrow_mut().insert(key, shown.clone());
            shown
        })
    }
}

pub(super) fn breaks(history: &History, kind: Kind) -> bool {
    judge(history).violations.iter().any(|violation| violation.kind == kind)
}

/// Runs `spec` on the fast engine; `None` if `spec` is invalid, or the run fails or is cancelled.
pub(super) fn history(spec: &RunSpec) -> Option<History> {
    spec.validate().ok().filter(|()| !is_cancelled())?;
    spec.run(Engine::Fast).ok().map(|outcome| outcome.history)
}
