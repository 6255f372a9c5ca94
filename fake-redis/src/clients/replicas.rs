//! Tracks connected replicas, and records the replication offsets that WAIT compares.

use crate::config::RedisVersion;
use crate::state::client_key::ClientKey;
use crate::state::server::Server;
use crate::state::timers::Timer;
use fencepost_machine::WallTime;

impl Server {
    pub(crate) fn count_good_replicas(&mut self) {
        self.replication.count_good_replicas(&self.config, self.clock.seconds());
    }

    pub(crate) fn forget_replica(&mut self, key: ClientKey) {
        let had_replicas = self.replication.has_replicas();
        if self.replication.forget_client(key, self.clock.seconds()) {
            self.count_good_replicas();
        }
        if had_replicas && !self.replication.has_replicas() {
            self.schedule_replication();
        }
    }

    pub(crate) fn schedule_replication(&mut self) {
        let next = self.replication.next_cron(self.clock.now.0);
        self.timers.set(Timer::Replication, next.map(WallTime));
    }

    /// Records the offset that WAIT compares. Before 7.2, it includes other clients' writes.
    pub(crate) fn note_write_offset(&mut self, key: ClientKey) {
        let offset = self.replication.offset();
        let wrote = offset != self.turn.offset_before;
        let counts_others = self.config.version < RedisVersion::V7_2;
        if wrote || counts_others && !self.client(key).transaction.is_open() {
            self.client_mut(key).write_offset = offset;
        }
    }
}
