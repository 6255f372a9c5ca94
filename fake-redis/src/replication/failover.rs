//! A primary that hands its place to a replica of its own: FAILOVER (`failoverCommand`,
//! `updateFailoverStatus`, `abortFailover`).

use crate::state::replication::{Failover, FailoverOrder, Phase};
use crate::state::server::Server;

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
    pub(crate) fn advance_failover(&mut self) {
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
    pub(crate) fn end_failover(&mut self) {
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
