use super::Replication;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    WaitingForSync,
    InProgress,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct FailoverOrder {
    /// Host and port of the replica; `None` means the first replica that catches up.
    pub(crate) target: Option<(String, u16)>,
    pub(crate) timeout_ms: Option<i64>,
    pub(crate) force: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Failover {
    phase: Phase,
    target: Option<(String, u16)>,
    ends_at_ms: Option<i64>,
    force: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Advance {
    Wait,
    Abort,
    HandOver(String, u16),
}

impl Replication {
    pub(crate) fn begin_failover(&mut self, order: FailoverOrder, now_ms: i64) {
        let FailoverOrder { target, timeout_ms, force } = order;
        let ends_at_ms = timeout_ms.map(|timeout| now_ms.saturating_add(timeout));
        self.failover = Some(Failover { phase: Phase::WaitingForSync, target, ends_at_ms, force });
    }

    pub(crate) fn advance_failover(&mut self, now_ms: i64) -> Advance {
        let waits = |one: &&Failover| one.phase == Phase::WaitingForSync;
        let Some(failover) = self.failover.as_ref().filter(waits) else { return Advance::Wait };
        let is_over = failover.ends_at_ms.is_some_and(|end| end <= now_ms);
        let chosen = match (is_over, failover.force) {
            (true, true) => failover.target.clone(),
            (true, false) => return Advance::Abort,
            (false, _) => self.caught_up(failover.target.as_ref()),
        };
        let Some((host, port)) = chosen else { return Advance::Wait };
        if let Some(failover) = &mut self.failover {
            failover.phase = Phase::InProgress;
        }
        Advance::HandOver(host, port)
    }

    pub(crate) fn end_failover(&mut self) -> bool {
        self.failover.take().is_some()
    }

    #[inline]
    pub(crate) fn is_failing_over(&self) -> bool {
        self.failover.is_some()
    }

    pub(crate) fn is_handing_over(&self) -> bool {
        self.failover.as_ref().is_some_and(|failover| failover.phase == Phase::InProgress)
    }

    /// As in Redis, a failover with a TIMEOUT suspends pings, because they lengthen the stream.
    pub(super) fn are_pings_suspended(&self) -> bool {
        self.failover.as_ref().is_some_and(|failover| failover.ends_at_ms.is_some())
    }

    pub(crate) fn failover_state(&self) -> &'static str {
        match self.failover.as_ref().map(|failover| failover.phase) {
            None => "no-failover",
            Some(Phase::WaitingForSync) => "waiting-for-sync",
            Some(Phase::InProgress) => "failover-in-progress",
        }
    }

    pub(crate) fn has_replicas(&self) -> bool {
        !self.replicas.is_empty()
    }

    pub(crate) fn has_replica(&self, host: &str, port: u16) -> bool {
        self.replicas
            .iter()
            .any(|replica| replica.host.eq_ignore_ascii_case(host) && replica.port == port)
    }

    fn caught_up(&self, target: Option<&(String, u16)>) -> Option<(String, u16)> {
        let is_asked = |host: &str, port| {
            target.is_none_or(|(name, at)| host.eq_ignore_ascii_case(name) && port == *at)
        };
        let mut asked =
            self.replicas.iter().filter(|replica| is_asked(&replica.host, replica.port));
        let found = asked.find(|replica| replica.acknowledged == self.offset());
        found.map(|replica| (replica.host.clone(), replica.port))
    }
}
