//! Clients that are replicas, and how far the stream was when others wrote.

use crate::config::RedisVersion;
use crate::state::client_key::ClientKey;
use crate::state::replication::BACKLOG_TTL_SECONDS;
use crate::state::server::Server;
use crate::state::timers::Timer;
use fencepost_machine::WallTime;

impl Server {
    /// Counts anew the replicas that acknowledged lately.
    pub(crate) fn count_good_replicas(&mut self) {
        self.replication.count_good_replicas(&self.config, self.clock.seconds());
    }

    /// A client's connection is gone; it may have been a replica's.
    pub(crate) fn forget_replica(&mut self, key: ClientKey) {
        let replication = &mut self.replication;
        replication.introductions.remove(&key);
        replication.waiting.retain(|waiting| waiting.client != key);
        let before = replication.replicas.len();
        replication.replicas.retain(|replica| replica.client != key);
        if before > replication.replicas.len() {
            replication.count_good_replicas(&self.config, self.clock.seconds());
        }
        if before > 0 && replication.replicas.is_empty() {
            replication.no_replicas_since = self.clock.seconds();
            self.schedule_replication();
        }
    }

    /// Asks to be woken for the next run of the cron, if there is anything for it to do.
    pub(crate) fn schedule_replication(&mut self) {
        let replication = &self.replication;
        let next = if replication.is_replica() || !replication.replicas.is_empty() {
            Some(WallTime(self.clock.now().0 + replication.period_micros()))
        } else if replication.history.has_backlog() {
            let last = replication.no_replicas_since + BACKLOG_TTL_SECONDS + 1;
            Some(WallTime(last.max(self.clock.seconds() + 1) * 1_000_000))
        } else {
            None
        };
        self.timers.set(Timer::Replication, next);
    }

    /// Notes, after a command, up to where a client's WAIT will wait: from 7.2 on for its own
    /// writes only, before that for everybody's.
    pub(crate) fn note_write_offset(&mut self, key: ClientKey) {
        let offset = self.replication.offset();
        let wrote = offset != self.turn.offset_before();
        let counts_others = self.config.version < RedisVersion::V7_2;
        if wrote || counts_others && !self.client(key).transaction.is_open() {
            self.client_mut(key).write_offset = offset;
        }
    }
}
