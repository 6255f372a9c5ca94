/// Wall-clock time in microseconds since the Unix epoch. A clock step moves it forward or back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct WallTime(pub i64);

impl WallTime {
    pub fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }
}

/// Monotonic time in microseconds. May run fast or slow, and stops while the host is suspended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct MonotonicTime(pub u64);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Now {
    pub wall: WallTime,
    pub monotonic: MonotonicTime,
}

impl Now {
    pub fn unstepped(wall: WallTime) -> Now {
        Now { wall, monotonic: MonotonicTime(u64::try_from(wall.0).unwrap_or(0)) }
    }
}
