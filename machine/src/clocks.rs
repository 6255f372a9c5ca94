//! A server's two clocks.

/// Wall clock in microseconds since the Unix epoch. It may be stepped in either direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct WallTime(pub i64);

impl WallTime {
    /// Whole milliseconds since the Unix epoch, rounded down.
    pub fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }
}

/// Monotonic microseconds since before the server started. Runs fast or slow; stops in a suspend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct MonotonicTime(pub u64);

/// Both clocks of the server's host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Now {
    /// Wall clock.
    pub wall: WallTime,
    /// Monotonic clock.
    pub monotonic: MonotonicTime,
}

impl Now {
    /// Clocks of a host whose wall clock was never stepped; both count from the epoch.
    pub fn unstepped(wall: WallTime) -> Now {
        Now { wall, monotonic: MonotonicTime(u64::try_from(wall.0).unwrap_or(0)) }
    }
}
