#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Step {
    #[default]
    None,
    WaitStart,
    SelectReplica,
    SendSlaveofNoOne,
    WaitPromotion,
    ReconfigureReplicas,
    UpdateConfig,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Failover {
    pub(crate) step: Step,
    pub(crate) step_since: i64,
    /// Time of this Sentinel's last attempt or vote for another, plus a random delay below 1 s.
    pub(crate) started: i64,
    pub(crate) epoch: u64,
    pub(crate) forced: bool,
}

impl Failover {
    pub(crate) fn in_progress(&self) -> bool {
        self.step != Step::None
    }

    pub(crate) fn promotion_seen(&self) -> bool {
        self.step >= Step::ReconfigureReplicas
    }

    pub(crate) fn enter(&mut self, step: Step, now: i64) {
        self.step = step;
        self.step_since = now;
    }
}
