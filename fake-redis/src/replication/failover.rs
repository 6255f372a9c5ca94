//! Hands the primary's role to a replica (`failoverCommand`, `updateFailoverStatus`).

use crate::state::replication::{Advance, FailoverOrder};
use crate::state::server::Server;

impl Server {
    pub(crate) fn begin_failover(&mut self, order: FailoverOrder) {
        self.replication.begin_failover(order, self.now_ms());
        self.schedule_replication();
    }

    pub(crate) fn advance_failover(&mut self) {
        match self.replication.advance_failover(self.now_ms()) {
            Advance::Wait => {}
            Advance::Abort => self.abort_failover(),
            Advance::HandOver(host, port) => self.follow(&host, port),
        }
    }

    pub(crate) fn abort_failover(&mut self) {
        if self.replication.is_handing_over() {
            self.promote();
        }
        self.end_failover();
    }

    pub(crate) fn end_failover(&mut self) {
        if self.replication.end_failover() {
            self.resume_postponed();
            self.schedule_replication();
        }
    }

    pub(crate) fn take_over(&mut self, id: &str) -> bool {
        let is_shared = id.eq_ignore_ascii_case(self.replication.history().id());
        if is_shared {
            self.promote();
        }
        is_shared
    }
}
