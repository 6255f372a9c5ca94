//! CLIENT PAUSE, as long as it is in force.

/// Commands that are delayed by CLIENT PAUSE.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum PauseScope {
    /// Those that may write.
    Writes,
    /// All.
    All,
}

/// A CLIENT PAUSE that has not ended, if there is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Pause {
    /// What is delayed, and until when in wall-clock milliseconds.
    in_force: Option<(PauseScope, i64)>,
}

impl Pause {
    /// Begins, or makes it longer and wider: the more severe of what was asked for is in force.
    /// Until when, in wall-clock milliseconds.
    pub(crate) fn extend(&mut self, scope: PauseScope, until_ms: i64) -> i64 {
        let (old_scope, old_until_ms) = self.in_force.unwrap_or((scope, until_ms));
        let until_ms = old_until_ms.max(until_ms);
        self.in_force = Some((old_scope.max(scope), until_ms));
        until_ms
    }

    /// Ends it.
    pub(crate) fn end(&mut self) {
        self.in_force = None;
    }

    /// What is delayed.
    pub(crate) fn scope(&self) -> Option<PauseScope> {
        self.in_force.map(|(scope, _)| scope)
    }
}
