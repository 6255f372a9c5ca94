//! Boots the server at its first timer, and runs the timers that are due.

use crate::state::server::Server;
use crate::state::timers::Timer;

impl Server {
    pub(crate) fn timer(&mut self) {
        self.timers.armed = None;
        if self.life.boot() {
            self.load_files();
            if self.life.is_over {
                return;
            }
            self.start_replication();
        }
        self.keep_replication_cron();
        self.run_due_timers();
    }

    #[inline]
    pub(crate) fn run_due_timers(&mut self) {
        if self.timers.any_due(self.clock.now) {
            self.run_each_due_timer();
        }
    }

    fn run_each_due_timer(&mut self) {
        if self.timers.take_if_due(Timer::SleepEnd, self.clock.now) {
            self.life.is_asleep = false;
            self.read_link();
        }
        if self.timers.take_if_due(Timer::BlockedClient, self.clock.now) {
            self.end_waits();
            self.end_blocked();
        }
        if self.timers.take_if_due(Timer::PauseEnd, self.clock.now) {
            self.end_pause();
        }
        if self.timers.take_if_due(Timer::ActiveExpiry, self.clock.now) {
            self.delete_expired();
        }
        if self.timers.take_if_due(Timer::Replication, self.clock.now) {
            self.replication_cron();
        }
        if self.timers.take_if_due(Timer::OutputLimit, self.clock.now) {
            self.check_output_limits();
        }
        if self.timers.take_if_due(Timer::Persistence, self.clock.now) {
            self.persistence_cron();
        }
    }

    pub(crate) fn answers_later(&self) -> bool {
        [Timer::BlockedClient, Timer::PauseEnd, Timer::SleepEnd]
            .into_iter()
            .any(|timer| self.timers.is_set(timer))
    }
}
