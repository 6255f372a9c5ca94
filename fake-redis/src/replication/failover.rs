//! A primary that hands its place to a replica of its own: FAILOVER (`failoverCommand`,
//! `updateFailoverStatus`, `abortFailover`).

use crate::state::replication::{Advance, FailoverOrder};
use crate::state::server::Server;

impl Server {
    /// Begins a failover: writes wait from now on.
    pub(crate) fn begin_failover(&mut self, order: FailoverOrder) {
        self.replication.begin_failover(order, self.now_ms());
        self.schedule_replication();
    }

    /// Ten times a second: hands over if the replica has everything, or if the time is up and that
    /// was asked for.
    pub(crate) fn advance_failover(&mut self) {
        match self.replication.advance_failover(self.now_ms()) {
            Advance::Wait => {}
            Advance::Abort => self.abort_failover(),
            Advance::HandOver(host, port) => self.follow(&host, port),
        }
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
        if self.replication.end_failover() {
            self.resume_postponed();
            self.schedule_replication();
        }
    }

    /// A replica is told by its primary to take over (`PSYNC id offset FAILOVER`); false if they do
    /// not share that history.
    pub(crate) fn take_over(&mut self, id: &str) -> bool {
        let is_shared = id.eq_ignore_ascii_case(self.replication.history().id());
        if is_shared {
            self.promote();
        }
        is_shared
    }
}
