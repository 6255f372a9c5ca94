//! A failover that has begun here, and what FAILOVER asks for.

use super::Replication;

/// How far a failover is (`FAILOVER_*` in server.h).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Writes are held back until the replica has everything.
    WaitingForSync,
    /// This server follows the replica and asks it to take over.
    InProgress,
}

/// What FAILOVER asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct FailoverOrder {
    /// To which replica; `None` for the first that has everything.
    pub(crate) target: Option<(String, u16)>,
    /// How long to wait for it, in milliseconds; `None` is for good.
    pub(crate) timeout_ms: Option<i64>,
    /// Whether to go on without everything when that time is up.
    pub(crate) force: bool,
}

/// A failover that has begun.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Failover {
    phase: Phase,
    target: Option<(String, u16)>,
    /// By the wall clock.
    ends_at_ms: Option<i64>,
    force: bool,
}

/// What there is to do about a failover.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Advance {
    /// Nothing yet.
    Wait,
    /// The time is up, and the replica has not everything.
    Abort,
    /// This replica takes over now: this server is to follow it.
    HandOver(String, u16),
}

impl Replication {
    /// Begins a failover: writes are held back from now on.
    pub(crate) fn begin_failover(&mut self, order: FailoverOrder, now_ms: i64) {
        let FailoverOrder { target, timeout_ms, force } = order;
        let ends_at_ms = timeout_ms.map(|timeout| now_ms.saturating_add(timeout));
        self.failover = Some(Failover { phase: Phase::WaitingForSync, target, ends_at_ms, force });
    }

    /// Goes on with a failover, if there is one: hands over if the replica has everything, or if
    /// the time is up and that was asked for.
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

    /// The failover is over; false if there was none.
    pub(crate) fn end_failover(&mut self) -> bool {
        self.failover.take().is_some()
    }

    /// Whether a failover has begun and not ended: writes are held back meanwhile.
    #[inline]
    pub(crate) fn is_failing_over(&self) -> bool {
        self.failover.is_some()
    }

    /// Whether the replica is being asked to take over.
    pub(crate) fn is_handing_over(&self) -> bool {
        self.failover.as_ref().is_some_and(|failover| failover.phase == Phase::InProgress)
    }

    /// Whether pings would stand in the way: they lengthen the stream that the replica has to catch
    /// up with. Redis only heeds that with a timeout.
    pub(super) fn withholds_pings(&self) -> bool {
        self.failover.as_ref().is_some_and(|failover| failover.ends_at_ms.is_some())
    }

    /// As INFO says it.
    pub(crate) fn failover_state(&self) -> &'static str {
        match self.failover.as_ref().map(|failover| failover.phase) {
            None => "no-failover",
            Some(Phase::WaitingForSync) => "waiting-for-sync",
            Some(Phase::InProgress) => "failover-in-progress",
        }
    }

    /// Whether anybody follows this server.
    pub(crate) fn has_replicas(&self) -> bool {
        !self.replicas.is_empty()
    }

    /// Whether a replica is known by this address.
    pub(crate) fn has_replica(&self, host: &str, port: u16) -> bool {
        self.replicas
            .iter()
            .any(|replica| replica.host.eq_ignore_ascii_case(host) && replica.port == port)
    }

    /// The replica that has everything, among those that may be the target.
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
