//! memcached's clock ([`Clock`]), which counts whole seconds (`clock_handler` in memcached.c).

use fencepost_machine::Now;

pub(crate) const TICK_US: u64 = 1_000_000;

/// First reading of the clock: `ITEM_UPDATE_INTERVAL` plus two seconds.
const AT_START: u64 = 62;

/// Longest relative expiry in seconds (`REALTIME_MAXDELTA`). Larger values are absolute times.
const SPAN_MAX: i64 = 60 * 60 * 24 * 30;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expiry {
    Never,
    At(u64),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Clock {
    /// Monotonic time in whole seconds at which this clock reads zero.
    origin: i64,
    /// Wall-clock time in whole seconds at which this clock reads zero.
    started: i64,
    pub(crate) shows: u64,
    read_us: u64,
    ahead_us: i64,
}

impl Clock {
    pub(crate) fn new(now: Now) -> Clock {
        let back = AT_START as i64;
        Clock {
            origin: seconds(now) - back,
            started: now.wall.0.div_euclid(1_000_000) - back,
            shows: AT_START,
            read_us: now.monotonic.0,
            ahead_us: ahead(now),
        }
    }

    pub(crate) fn catch_up(&mut self, now: Now) {
        self.ahead_us = ahead(now);
    }

    pub(crate) fn tick(&mut self, now: Now) {
        self.shows = u64::try_from(seconds(now) - self.origin).unwrap_or(0);
        self.read_us = now.monotonic.0;
    }

    /// Converts an expiry as `realtime` does. 0 means never, and a negative value is in the past.
    pub(crate) fn expiry(&self, given: i64) -> Expiry {
        match given {
            0 => Expiry::Never,
            span @ 1..=SPAN_MAX => Expiry::At(self.shows + span as u64),
            instant if instant > self.started => Expiry::At((instant - self.started) as u64),
            _ => Expiry::At(1),
        }
    }

    pub(crate) fn has_reached(&self, expiry: Expiry) -> bool {
        matches!(expiry, Expiry::At(at) if at <= self.shows)
    }

    pub(crate) fn in_wall_ms(&self, expiry: Expiry) -> Option<i64> {
        let Expiry::At(at) = expiry else { return None };
        let readings = i64::try_from(at).ok()?.checked_sub(i64::try_from(self.shows).ok()?)?;
        let read_us = i64::try_from(self.read_us).ok()?.checked_add(self.ahead_us)?;
        Some(readings.checked_mul(1_000_000)?.checked_add(read_us)?.div_euclid(1_000))
    }
}

fn ahead(now: Now) -> i64 {
    now.wall.0.saturating_sub_unsigned(now.monotonic.0)
}

fn seconds(now: Now) -> i64 {
    (now.monotonic.0 / 1_000_000) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_machine::{MonotonicTime, WallTime};

    fn at(monotonic_us: u64) -> Now {
        Now { wall: WallTime(1_700_000_000_000_000), monotonic: MonotonicTime(monotonic_us) }
    }

    #[test]
    fn a_span_ends_up_to_a_second_early() {
        let mut clock = Clock::new(at(5_900_000));
        let expiry = clock.expiry(1);
        clock.tick(at(6_000_000));
        assert!(clock.has_reached(expiry), "a tenth of a second after it was given");
    }

    #[test]
    fn the_judge_is_told_of_the_reading_that_ends_a_span() {
        let mut clock = Clock::new(at(5_900_000));
        clock.tick(at(6_900_000));
        let stepped = Now { wall: WallTime(1_800_000_000_000_000), ..at(7_500_000) };
        clock.catch_up(stepped);
        assert_eq!(clock.in_wall_ms(clock.expiry(10)), Some(1_800_000_009_400));
        assert_eq!(clock.in_wall_ms(clock.expiry(0)), None);
    }

    #[test]
    fn what_is_negative_or_past_has_expired_and_zero_never_does() {
        let clock = Clock::new(at(0));
        assert!(clock.has_reached(clock.expiry(-1)));
        assert!(clock.has_reached(clock.expiry(1_600_000_000)));
        assert!(!clock.has_reached(clock.expiry(1_700_000_010)));
        assert!(!clock.has_reached(clock.expiry(0)));
    }

    #[test]
    fn a_step_of_the_wall_clock_changes_nothing() {
        let mut clock = Clock::new(at(0));
        let expiry = clock.expiry(2);
        clock.tick(Now { wall: WallTime(i64::MAX), ..at(1_000_000) });
        assert!(!clock.has_reached(expiry));
    }
}
