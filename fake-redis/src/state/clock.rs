//! The wall clock of a server, frozen while an input is handled.

use fencepost_machine::WallTime;

/// What the wall clock shows, and what it showed when the server started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    now: WallTime,
    started_at: WallTime,
}

impl Clock {
    /// The clock of a server that starts.
    pub(crate) fn started(now: WallTime) -> Self {
        Clock { now, started_at: now }
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

    /// Whole seconds since the start.
    pub(crate) fn uptime_seconds(&self) -> i64 {
        self.seconds_since(self.started_at)
    }
}
