use fencepost_machine::WallTime;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Timer {
    ActiveExpiry,
    PauseEnd,
    SleepEnd,
    BlockedClient,
    Replication,
    Persistence,
    OutputLimit,
}

impl Timer {
    const COUNT: usize = 7;
}

/// Wall-clock deadlines, as in Redis. The driver wakes the server by the monotonic clock, so the
/// server checks every deadline at each wake-up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    due: [Option<WallTime>; Timer::COUNT],
    soonest: Option<WallTime>,
    pub(crate) armed: Option<WallTime>,
}

impl Timers {
    pub(crate) fn set(&mut self, timer: Timer, due: Option<WallTime>) {
        if self.due[timer as usize] != due {
            self.due[timer as usize] = due;
            self.soonest = self.due.iter().flatten().min().copied();
        }
    }

    pub(crate) fn set_at_latest(&mut self, timer: Timer, due: WallTime) {
        let earlier = self.due[timer as usize].map_or(due, |earlier| earlier.min(due));
        self.set(timer, Some(earlier));
    }

    pub(crate) fn limit(&mut self, timer: Timer, limit: WallTime, now: WallTime) {
        if self.due[timer as usize].is_some_and(|due| due > limit) {
            self.set(timer, Some(now));
        }
    }

    pub(crate) fn is_set(&self, timer: Timer) -> bool {
        self.due[timer as usize].is_some()
    }

    pub(crate) fn any_due(&self, now: WallTime) -> bool {
        self.soonest.is_some_and(|due| due <= now)
    }

    pub(crate) fn take_if_due(&mut self, timer: Timer, now: WallTime) -> bool {
        let is_due = self.due[timer as usize].is_some_and(|due| due <= now);
        if is_due {
            self.set(timer, None);
        }
        is_due
    }

    pub(crate) fn rearm(&mut self, now: WallTime) -> Option<u64> {
        let next = self.soonest?;
        if self.armed.is_some_and(|armed| armed <= next) {
            return None;
        }
        self.armed = Some(next);
        Some(u64::try_from(next.0.saturating_sub(now.0)).unwrap_or(0))
    }
}
