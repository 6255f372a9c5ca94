//! memcached's clock: whole seconds since shortly before the start, read once a second
//! (`clock_handler` in memcached.c).
//!
//! It follows the monotonic clock, so that steps of the wall clock change nothing. Expiry compares
//! with what was read last: a lease of ten seconds that begins shortly before the next reading ends
//! after little more than nine.

use fencepost_machine::Now;

/// How long the clock rests between two readings, in microseconds.
pub(crate) const TICK_US: u64 = 1_000_000;

/// What the clock shows at the start, so that no item looks as old as the server itself
/// (`ITEM_UPDATE_INTERVAL` and two seconds).
const AT_START: u64 = 62;

/// From here on an expiry is an instant, not a span (`REALTIME_MAXDELTA`: 30 days).
const SPAN_MAX: i64 = 60 * 60 * 24 * 30;

/// When an item expires, by the server's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expiry {
    /// Never.
    Never,
    /// As soon as the clock shows this.
    At(u64),
}

/// The clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Clock {
    /// The monotonic clock in whole seconds when this one would have shown zero.
    origin: i64,
    /// The wall clock in whole seconds at the same instant.
    started: i64,
    /// What was read last.
    pub(crate) shows: u64,
    /// The monotonic clock when it was read last.
    read_us: u64,
    /// By how much the wall clock is ahead of the monotonic one now.
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

    /// It is `now`; the clock is not read.
    pub(crate) fn goes_on(&mut self, now: Now) {
        self.ahead_us = ahead(now);
    }

    /// Reads the host's clock.
    pub(crate) fn tick(&mut self, now: Now) {
        self.shows = u64::try_from(seconds(now) - self.origin).unwrap_or(0);
        self.read_us = now.monotonic.0;
    }

    /// What an expiry in a command means (`realtime` in memcached.c): nothing for 0, a span up to
    /// 30 days, an instant of the wall clock beyond, long ago if it is negative.
    pub(crate) fn expiry(&self, given: i64) -> Expiry {
        match given {
            0 => Expiry::Never,
            span @ 1..=SPAN_MAX => Expiry::At(self.shows + span as u64),
            instant if instant > self.started => Expiry::At((instant - self.started) as u64),
            _ => Expiry::At(1),
        }
    }

    /// Whether this has come to pass.
    pub(crate) fn has_reached(&self, expiry: Expiry) -> bool {
        matches!(expiry, Expiry::At(at) if at <= self.shows)
    }

    /// When an expiry will come to pass, in milliseconds of the wall clock, for the judge: at the
    /// reading that shows it.
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
        clock.goes_on(stepped);
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
