//! A server's clocks. Faults can step the wall clock, and change the rate of both clocks.

use fencepost_machine::{MonotonicTime, Now, WallTime};

const TRUE_RATE: u64 = 1_000_000;

#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    anchor_us: u64,
    monotonic_at_anchor_us: u64,
    rate_ppm: i32,
    stepped_us: i64,
}

impl Clock {
    pub(super) fn both(&self, beginning: WallTime, now_us: u64) -> Now {
        let monotonic = self.monotonic_us(now_us);
        let wall = beginning.0.saturating_add_unsigned(monotonic).saturating_add(self.stepped_us);
        Now { wall: WallTime(wall), monotonic: MonotonicTime(monotonic) }
    }

    pub(super) fn monotonic_us(&self, now_us: u64) -> u64 {
        let span = now_us.saturating_sub(self.anchor_us);
        self.monotonic_at_anchor_us + scaled(span, self.rate(), TRUE_RATE)
    }

    pub(super) fn reaches_us(&self, deadline_us: u64) -> u64 {
        let left = u128::from(deadline_us.saturating_sub(self.monotonic_at_anchor_us));
        let span = (left * u128::from(TRUE_RATE)).div_ceil(u128::from(self.rate()));
        self.anchor_us.saturating_add(u64::try_from(span).unwrap_or(u64::MAX))
    }

    pub(super) fn step(&mut self, by_us: i64) {
        self.stepped_us = self.stepped_us.saturating_add(by_us);
    }

    pub(super) fn set_rate(&mut self, now_us: u64, rate_ppm: i32) {
        self.monotonic_at_anchor_us = self.monotonic_us(now_us);
        self.anchor_us = now_us;
        self.rate_ppm = rate_ppm;
    }

    fn rate(&self) -> u64 {
        TRUE_RATE.saturating_add_signed(i64::from(self.rate_ppm)).max(1)
    }
}

fn scaled(span: u64, by: u64, of: u64) -> u64 {
    u64::try_from(u128::from(span) * u128::from(by) / u128::from(of)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_clock_reaches_a_deadline_early_and_a_step_moves_the_wall_clock_only() {
        let mut clock = Clock::default();
        clock.set_rate(1_000_000, 10_000);
        assert_eq!(clock.monotonic_us(2_000_000), 2_010_000);
        assert_eq!(clock.reaches_us(2_010_000), 2_000_000);
        clock.step(-5);
        let now = clock.both(WallTime(100), 2_000_000);
        assert_eq!((now.wall.0, now.monotonic.0), (2_010_095, 2_010_000));
        clock.set_rate(2_000_000, 0);
        assert_eq!(clock.monotonic_us(3_000_000), 3_010_000);
    }
}
