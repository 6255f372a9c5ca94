//! The clocks of one host. They gain `rate_ppm` parts per million on true time.

use fencepost_faults::{Micros, SimTime};
use fencepost_machine::{MonotonicTime, Now, WallTime};

/// 2026-01-01T00:00:00Z, in microseconds since the Unix epoch.
pub(crate) const WALL_EPOCH_US: i64 = 1_767_225_600_000_000;

const TRUE_RATE: u64 = 1_000_000;

#[derive(Clone, Debug)]
pub(crate) struct NodeClock {
    anchor: SimTime,
    monotonic_at_anchor: u64,
    /// Wall clock minus monotonic clock. Only steps and suspensions change the difference.
    wall_offset: i64,
    rate_ppm: i32,
    suspended: bool,
}

impl NodeClock {
    /// The wall clock shows [`WALL_EPOCH_US`] at `begins_at`, when the run begins.
    pub(crate) fn new(begins_at: SimTime) -> NodeClock {
        NodeClock {
            anchor: SimTime::ZERO,
            monotonic_at_anchor: 0,
            wall_offset: WALL_EPOCH_US - begins_at.0 as i64,
            rate_ppm: 0,
            suspended: false,
        }
    }

    pub(crate) fn monotonic(&self, now: SimTime) -> u64 {
        if self.suspended {
            return self.monotonic_at_anchor;
        }
        self.monotonic_at_anchor + self.elapsed(now)
    }

    #[inline]
    pub(crate) fn both(&self, now: SimTime) -> Now {
        let running = self.monotonic_at_anchor + self.elapsed(now);
        Now {
            wall: WallTime(running as i64 + self.wall_offset),
            monotonic: MonotonicTime(match self.suspended {
                true => self.monotonic_at_anchor,
                false => running,
            }),
        }
    }

    pub(crate) fn reaches(&self, deadline: u64) -> Option<SimTime> {
        if self.suspended {
            return None;
        }
        let left = deadline.saturating_sub(self.monotonic_at_anchor);
        if self.rate_ppm == 0 {
            return Some(self.anchor + Micros(left));
        }
        let span = (u128::from(left) * u128::from(TRUE_RATE)).div_ceil(u128::from(self.rate()));
        Some(self.anchor + Micros(u64::try_from(span).unwrap_or(u64::MAX)))
    }

    pub(crate) fn set_rate(&mut self, now: SimTime, rate_ppm: i32) {
        self.rebase(now);
        self.rate_ppm = rate_ppm;
    }

    pub(crate) fn step_wall(&mut self, offset_us: i64) {
        self.wall_offset += offset_us;
    }

    pub(crate) fn suspend(&mut self, now: SimTime) {
        self.rebase(now);
        self.suspended = true;
    }

    pub(crate) fn thaw(&mut self, now: SimTime) {
        self.wall_offset += self.elapsed(now) as i64;
        self.anchor = now;
        self.suspended = false;
    }

    fn rebase(&mut self, now: SimTime) {
        let elapsed = self.elapsed(now);
        if self.suspended {
            self.wall_offset += elapsed as i64;
        } else {
            self.monotonic_at_anchor += elapsed;
        }
        self.anchor = now;
    }

    fn elapsed(&self, now: SimTime) -> u64 {
        let span = now.since(self.anchor).0;
        if self.rate_ppm == 0 {
            return span;
        }
        (u128::from(span) * u128::from(self.rate()) / u128::from(TRUE_RATE)) as u64
    }

    fn rate(&self) -> u64 {
        TRUE_RATE.saturating_add_signed(i64::from(self.rate_ppm)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_clock_reaches_a_deadline_early() {
        let mut clock = NodeClock::new(SimTime::ZERO);
        clock.set_rate(SimTime(1_000_000), 10_000);
        assert_eq!(clock.monotonic(SimTime(2_000_000)), 2_010_000);
        assert_eq!(clock.reaches(2_010_000), Some(SimTime(2_000_000)));
        clock.set_rate(SimTime(2_000_000), 0);
        assert_eq!(clock.monotonic(SimTime(3_000_000)), 3_010_000);
    }

    #[test]
    fn the_wall_clock_shows_the_epoch_when_the_run_begins() {
        let clock = NodeClock::new(SimTime(5_000_000));
        assert_eq!(clock.both(SimTime(0)).wall.0, WALL_EPOCH_US - 5_000_000);
        assert_eq!(clock.both(SimTime(5_000_000)).wall.0, WALL_EPOCH_US);
    }

    #[test]
    fn a_step_moves_only_the_wall_clock() {
        let mut clock = NodeClock::new(SimTime::ZERO);
        clock.step_wall(-5_000_000);
        assert_eq!(clock.both(SimTime(7)).wall.0, WALL_EPOCH_US + 7 - 5_000_000);
        assert_eq!(clock.monotonic(SimTime(7)), 7);
    }

    #[test]
    fn a_suspended_monotonic_clock_stands_still_while_the_wall_clock_goes_on() {
        let mut clock = NodeClock::new(SimTime::ZERO);
        clock.suspend(SimTime(1_000));
        assert_eq!(clock.monotonic(SimTime(9_000)), 1_000);
        assert_eq!(clock.both(SimTime(9_000)).wall.0, WALL_EPOCH_US + 9_000);
        assert_eq!(clock.reaches(2_000), None);
        clock.thaw(SimTime(9_000));
        assert_eq!(clock.monotonic(SimTime(10_000)), 2_000);
        assert_eq!(clock.both(SimTime(10_000)).wall.0, WALL_EPOCH_US + 10_000);
    }
}
