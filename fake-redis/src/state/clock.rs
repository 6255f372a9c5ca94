//! The wall clock of a server, frozen while an input is handled.

use fencepost_machine::WallTime;

/// How often `serverCron` runs, in microseconds: `hz 10`.
const CRON_PERIOD_MICROS: i64 = 100_000;

/// What the wall clock shows, and what it showed when the server started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    now: WallTime,
    started_at: WallTime,
    /// How far into a tenth of a second `serverCron` runs, in microseconds.
    cron_phase: i64,
}

impl Clock {
    /// The clock of a server that starts.
    pub(crate) fn started(now: WallTime, seed: u64) -> Self {
        let cron_phase = (seed % CRON_PERIOD_MICROS.unsigned_abs()) as i64;
        Clock { now, started_at: now, cron_phase }
    }

    /// An input is handled, and the clock shows this until the next one.
    pub(crate) fn show(&mut self, now: WallTime) {
        self.now = now;
    }

    /// The instant.
    pub(crate) fn now(&self) -> WallTime {
        self.now
    }

    /// The same in milliseconds.
    pub(crate) fn ms(&self) -> i64 {
        self.now.as_millis()
    }

    /// The same in whole seconds, as `server.unixtime`.
    pub(crate) fn seconds(&self) -> i64 {
        self.now.0.div_euclid(1_000_000)
    }

    /// Whole seconds since an instant; none if the clock was set back behind it.
    pub(crate) fn seconds_since(&self, then: WallTime) -> i64 {
        (self.now.0 - then.0).max(0) / 1_000_000
    }

    /// The first run of `serverCron` at an instant, in microseconds, or after it: ten times a
    /// second, each server at instants of its own.
    pub(crate) fn next_look(&self, micros: i64) -> WallTime {
        let since_last = micros.saturating_sub(self.cron_phase).rem_euclid(CRON_PERIOD_MICROS);
        let wait = if since_last == 0 { 0 } else { CRON_PERIOD_MICROS - since_last };
        WallTime(micros.saturating_add(wait))
    }

    /// Whole seconds since the start.
    pub(crate) fn uptime_seconds(&self) -> i64 {
        self.seconds_since(self.started_at)
    }
}
