//! A server's wall clock. It does not advance during an input.

use fencepost_machine::WallTime;

/// Period of `serverCron` in microseconds (`hz 10`).
const CRON_PERIOD_MICROS: i64 = 100_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) now: WallTime,
    started_at: WallTime,
    cron_phase: i64,
}

impl Clock {
    pub(crate) fn started(now: WallTime, seed: u64) -> Self {
        let cron_phase = (seed % CRON_PERIOD_MICROS.unsigned_abs()) as i64;
        Clock { now, started_at: now, cron_phase }
    }

    pub(crate) fn ms(&self) -> i64 {
        self.now.as_millis()
    }

    pub(crate) fn seconds(&self) -> i64 {
        self.now.0.div_euclid(1_000_000)
    }

    pub(crate) fn seconds_since(&self, then: WallTime) -> i64 {
        (self.now.0 - then.0).max(0) / 1_000_000
    }

    /// Returns the time of the first cron run at or after `micros`. The seed sets the phase.
    pub(crate) fn next_cron(&self, micros: i64) -> WallTime {
        let since_last = micros.saturating_sub(self.cron_phase).rem_euclid(CRON_PERIOD_MICROS);
        let wait = if since_last == 0 { 0 } else { CRON_PERIOD_MICROS - since_last };
        WallTime(micros.saturating_add(wait))
    }

    pub(crate) fn uptime_seconds(&self) -> i64 {
        self.seconds_since(self.started_at)
    }
}
