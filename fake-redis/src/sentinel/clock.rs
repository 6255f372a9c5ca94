//! Sentinel's timer, and TILT mode after clock jumps (`sentinelCheckTiltCondition`). Redis enters
//! TILT if its clock goes back, or if two ticks, normally 52 to 100 ms apart, are over two seconds
//! apart. This model sleeps longer. It enters TILT if its clock goes back by more than one tick, or
//! if its timer is late by more than two seconds less one tick.

use super::period;
use fencepost_machine::{Output, Outputs, WallTime};

/// Ticks per second. At each tick, Redis picks a rate from one to two times `CONFIG_DEFAULT_HZ`.
const TICKS_PER_SECOND: std::ops::Range<u64> = 10..20;

/// Longest tick in milliseconds. A timer that would fire at most this late is not set again.
const TICK_MS_MAX: i64 = 100;

#[derive(Debug, Default)]
pub(crate) struct Alarm {
    pub(crate) set_for: Option<i64>,
    last_input: Option<i64>,
    last_check: i64,
    tick_ms: i64,
}

impl Alarm {
    pub(crate) fn observe(&mut self, now: i64) -> bool {
        let last_input = self.last_input.replace(now).unwrap_or(now);
        let late = now - self.set_for.unwrap_or(now);
        let jumped =
            now < last_input - self.tick_ms || late + self.tick_ms > period::TILT_TRIGGER_MS;
        if jumped {
            self.set_for = None;
        }
        jumped
    }

    pub(crate) fn draw_next_tick(&mut self, now: i64, draw_below: impl FnOnce(u64) -> i64) {
        let drawn = draw_below(TICKS_PER_SECOND.end - TICKS_PER_SECOND.start);
        self.tick_ms = 1_000 / (drawn + TICKS_PER_SECOND.start as i64);
        self.last_check = now;
    }

    pub(crate) fn set(
        &mut self,
        due: i64,
        now: WallTime,
        draw_below: impl FnOnce(u64) -> i64,
        out: &mut Outputs,
    ) {
        // After a backward clock step, the time of the last check is in the future.
        let earliest = due.max(self.last_check.min(now.as_millis()) + self.tick_ms);
        if self
            .set_for
            .is_some_and(|wake_at| (earliest..=earliest + TICK_MS_MAX).contains(&wake_at))
        {
            return;
        }
        let within_tick = draw_below(u64::try_from(self.tick_ms).unwrap_or(0).max(1));
        let wake_at = earliest.max(now.as_millis()) + within_tick;
        let micros = u64::try_from(wake_at * 1_000 - now.0).unwrap_or(0);
        out.list.push(Output::WakeAfter { micros });
        self.set_for = Some(wake_at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alarm() -> (Alarm, i64) {
        let (mut alarm, mut out) = (Alarm::default(), Outputs::default());
        assert!(!alarm.observe(1_000_000));
        alarm.draw_next_tick(1_000_000, |_| 0);
        alarm.set(1_001_000, WallTime(1_000_000_250), |_| 7, &mut out);
        assert_eq!(out.list, [Output::WakeAfter { micros: 1_006_750 }]);
        (alarm, 1_001_007)
    }

    #[test]
    fn accepts_a_wake_up_in_time() {
        let (mut alarm, expected) = alarm();
        assert!(!alarm.observe(expected));
    }

    #[test]
    fn accepts_a_delay_that_redis_would_not_notice_and_rejects_a_longer_one() {
        let (mut on_time, expected) = alarm();
        assert!(!on_time.observe(expected + 1_900));
        let (mut late, expected) = alarm();
        assert!(late.observe(expected + 1_901));
    }

    #[test]
    fn rejects_time_that_runs_backwards_by_more_than_a_tick() {
        let (mut slightly, _) = alarm();
        assert!(!slightly.observe(999_900));
        let (mut clearly, _) = alarm();
        assert!(clearly.observe(999_899));
    }

    #[test]
    fn an_alarm_that_serves_is_left_alone() {
        let (mut alarm, _) = alarm();
        let mut out = Outputs::default();
        alarm.set(1_000_990, WallTime(1_000_500_000), |_| 7, &mut out);
        assert_eq!(out.list, []);
        alarm.set(1_000_600, WallTime(1_000_500_000), |_| 7, &mut out);
        assert_eq!(out.list, [Output::WakeAfter { micros: 107_000 }]);
    }

    #[test]
    fn two_looks_are_at_least_a_tick_apart() {
        let (mut alarm, mut out) = (Alarm::default(), Outputs::default());
        alarm.draw_next_tick(1_000_000, |_| 9);
        alarm.set(1_000_000, WallTime(1_000_000_000), |_| 0, &mut out);
        assert_eq!(out.list, [Output::WakeAfter { micros: 52_000 }]);
    }
}
