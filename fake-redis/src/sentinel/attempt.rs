//! An attempt to replace a primary, and where it stands.

/// Where an attempt to replace the primary stands (`SENTINEL_FAILOVER_STATE_*`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Step {
    /// There is no attempt.
    #[default]
    None,
    /// Votes are awaited.
    WaitStart,
    /// We lead, and are about to choose a replica.
    SelectReplica,
    /// The replica is to be told that it is the primary.
    SendSlaveofNoOne,
    /// It was told, and has not yet said that it is.
    WaitPromotion,
    /// It is, and the others are being pointed at it.
    ReconfigureReplicas,
    /// They are, and we are about to monitor it as the primary.
    UpdateConfig,
}

/// Our attempt to replace the primary.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Failover {
    /// Where it stands.
    pub(crate) step: Step,
    /// Since when.
    pub(crate) step_since: i64,
    /// When the last attempt began, ours or that of the Sentinel for which we voted; up to a second
    /// later, so that several do not keep in step.
    pub(crate) started: i64,
    /// The epoch that it was begun for.
    pub(crate) epoch: u64,
    /// Whether an operator demanded it, so that nobody has to vote.
    pub(crate) forced: bool,
}

impl Failover {
    /// Whether there is an attempt (`SRI_FAILOVER_IN_PROGRESS`).
    pub(crate) fn in_progress(&self) -> bool {
        self.step != Step::None
    }

    /// Whether the promoted replica has said that it is a primary.
    pub(crate) fn promotion_seen(&self) -> bool {
        self.step >= Step::ReconfigureReplicas
    }

    /// Goes on to a step.
    pub(crate) fn enter(&mut self, step: Step, now: i64) {
        self.step = step;
        self.step_since = now;
    }
}
