//! A primary that hands its place to a replica of its own: FAILOVER (`failoverCommand`,
//! `updateFailoverStatus`, `abortFailover`).

use super::Replication;
use crate::server::Server;

/// How far a failover is (`FAILOVER_*` in server.h).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
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

impl Replication {
    /// Whether a failover has begun and not ended: writes are held back meanwhile.
    pub(crate) fn is_failing_over(&self) -> bool {
        self.failover.is_some()
    }

    /// Whether the replica is being asked to take over.
    pub(super) fn is_handing_over(&self) -> bool {
        self.failover.as_ref().is_some_and(|failover| failover.phase == Phase::InProgress)
    }

    /// Whether pings would stand in the way: they lengthen the stream that the replica has to catch
    /// up with. Redis only heeds that with a timeout.
    pub(super) fn withholds_pings(&self) -> bool {
        self.failover.as_ref().is_some_and(|failover| failover.ends_at_ms.is_some())
    }

    /// As INFO says it.
    pub(super) fn failover_state(&self) -> &'static str {
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

impl Server {
    /// Begins a failover: writes wait from now on.
    pub(crate) fn begin_failover(&mut self, order: FailoverOrder) {
        let FailoverOrder { target, timeout_ms, force } = order;
        let ends_at_ms = timeout_ms.map(|timeout| self.now_ms().saturating_add(timeout));
        self.replication.failover =
            Some(Failover { phase: Phase::WaitingForSync, target, ends_at_ms, force });
        self.schedule_replication();
    }

    /// Ten times a second: hands over if the replica has everything, or if the time is up and that
    /// was asked for.
    pub(super) fn advance_failover(&mut self) {
        let Some(failover) =
            self.replication.failover.as_ref().filter(|one| one.phase == Phase::WaitingForSync)
        else {
            return;
        };
        let is_over = failover.ends_at_ms.is_some_and(|end| end <= self.now_ms());
        let chosen = match (is_over, failover.force) {
            (true, true) => failover.target.clone(),
            (true, false) => return self.abort_failover(),
            (false, _) => self.replication.caught_up(failover.target.as_ref()),
        };
        if let Some((host, port)) = chosen {
            self.hand_over(&host, port);
        }
    }

    fn hand_over(&mut self, host: &str, port: u16) {
        if let Some(failover) = &mut self.replication.failover {
            failover.phase = Phase::InProgress;
        }
        self.follow(host, port);
    }

    /// FAILOVER ABORT, or a failover that did not succeed: this server is a primary as before, and
    /// writes go on.
    pub(crate) fn abort_failover(&mut self) {
        if self.replication.is_handing_over() {
            self.promote();
        }
        self.end_failover();
    }

    /// The failover is over: commands that were held back are served, by whatever this server is
    /// now.
    pub(super) fn end_failover(&mut self) {
        if self.replication.failover.take().is_some() {
            self.resume_postponed();
            self.schedule_replication();
        }
    }

    /// A replica is told by its primary to take over (`PSYNC id offset FAILOVER`); false if they do
    /// not share that history.
    pub(crate) fn take_over(&mut self, id: &str) -> bool {
        let is_shared = id.eq_ignore_ascii_case(self.replication.history.id());
        if is_shared {
            self.promote();
        }
        is_shared
    }
}
