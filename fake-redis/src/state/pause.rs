#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum PauseScope {
    Writes,
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Pause {
    pub(crate) in_force: Option<(PauseScope, i64)>,
}

impl Pause {
    pub(crate) fn extend(&mut self, scope: PauseScope, until_ms: i64) -> i64 {
        let (old_scope, old_until_ms) = self.in_force.unwrap_or((scope, until_ms));
        let until_ms = old_until_ms.max(until_ms);
        self.in_force = Some((old_scope.max(scope), until_ms));
        until_ms
    }

    pub(crate) fn scope(&self) -> Option<PauseScope> {
        self.in_force.map(|(scope, _)| scope)
    }
}
