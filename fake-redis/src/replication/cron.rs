use crate::state::server::Server;
use crate::state::timers::Timer;
use fencepost_machine::WallTime;

impl Server {
    pub(crate) fn start_replication(&mut self) {
        self.replication.no_replicas_since = self.clock.seconds();
        self.report_role();
        self.connect_to_primary();
        self.schedule_replication();
    }

    pub(crate) fn replication_cron(&mut self) {
        if self.life.is_asleep {
            return self.schedule_replication();
        }
        self.advance_failover();
        self.check_link();
        self.acknowledge();
        self.check_replicas();
        self.send_snapshots_in_time();
        self.count_good_replicas();
        self.replication.cron_runs += 1;
        self.schedule_replication();
    }

    /// Runs the cron now if a step of the wall clock would delay it by more than its period. Redis
    /// schedules the cron by the monotonic clock.
    pub(crate) fn keep_replication_cron(&mut self) {
        if self.replication.runs_cron() {
            self.timers.limit(
                Timer::Replication,
                WallTime(self.clock.now.0 + self.replication.period_micros()),
                self.clock.now,
            );
        }
    }

    pub(crate) fn flush_replication(&mut self) {
        self.flush_stream();
        if let Some(message) = self.replication.take_message() {
            self.outbox.send(message);
        }
    }
}
