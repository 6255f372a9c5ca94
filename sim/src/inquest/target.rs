//! The question that is put to every run of an inquest: is the same violation there? Must never
//! know why it is asked.

use crate::engine::Engine;
use crate::run::RunSpec;
use fencepost_reports::{Cause, History, Kind, judge};

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
        let Some(history) = history(spec) else { return false };
        let violations = judge(&history).violations;
        violations
            .iter()
            .any(|violation| violation.kind == self.kind && violation.cause == self.cause)
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
