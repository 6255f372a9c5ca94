//! When a server has to be woken, one deadline for each thing that happens by itself.

use fencepost_machine::WallTime;

/// What happens by itself. Replication and persistence have one each for their own use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Timer {
    /// Deleting expired keys that nobody asks for.
    ActiveExpiry,
    /// CLIENT PAUSE ends.
    PauseEnd,
    /// DEBUG SLEEP ends.
    SleepEnd,
    /// A blocked client's wait ends.
    BlockedClient,
    /// Whatever replication has to do next.
    Replication,
    /// Whatever persistence has to do next.
    Persistence,
    /// A client has had too much unread for too long.
    OutputLimit,
}

impl Timer {
    const COUNT: usize = 7;
}

/// The deadlines, by the host's wall clock as Redis keeps them. The driver wakes by the monotonic
/// clock, so that a stepped wall clock makes a wake-up come early or late; each is then checked
/// against the clock as it is and set anew.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    due: [Option<WallTime>; Timer::COUNT],
    /// The first of them.
    soonest: Option<WallTime>,
    /// The deadline that the driver was last told.
    armed: Option<WallTime>,
}

impl Timers {
    /// Sets or clears a deadline.
    pub(crate) fn set(&mut self, timer: Timer, due: Option<WallTime>) {
        if self.due[timer as usize] != due {
            self.due[timer as usize] = due;
            self.soonest = self.due.iter().flatten().min().copied();
        }
    }

    /// Sets a deadline unless an earlier one is set.
    pub(crate) fn set_at_latest(&mut self, timer: Timer, due: WallTime) {
        let earlier = self.due[timer as usize].map_or(due, |earlier| earlier.min(due));
        self.set(timer, Some(earlier));
    }

    /// Brings a deadline forward to now if it lies beyond a limit.
    pub(crate) fn limit(&mut self, timer: Timer, limit: WallTime, now: WallTime) {
        if self.due[timer as usize].is_some_and(|due| due > limit) {
            self.set(timer, Some(now));
        }
    }

    /// Whether a deadline is set.
    pub(crate) fn is_set(&self, timer: Timer) -> bool {
        self.due[timer as usize].is_some()
    }

    /// Whether any deadline has come.
    pub(crate) fn any_due(&self, now: WallTime) -> bool {
        self.soonest.is_some_and(|due| due <= now)
    }

    /// Takes the deadline if it has come.
    pub(crate) fn take_if_due(&mut self, timer: Timer, now: WallTime) -> bool {
        let is_due = self.due[timer as usize].is_some_and(|due| due <= now);
        if is_due {
            self.set(timer, None);
        }
        is_due
    }

    /// The driver's wake-up came: it owes none now.
    pub(crate) fn woken(&mut self) {
        self.armed = None;
    }

    /// The span in microseconds to ask the driver for, if what it was asked for is missing or too
    /// late.
    pub(crate) fn rearm(&mut self, now: WallTime) -> Option<u64> {
        let next = self.soonest?;
        if self.armed.is_some_and(|armed| armed <= next) {
            return None;
        }
        self.armed = Some(next);
        Some(u64::try_from(next.0.saturating_sub(now.0)).unwrap_or(0))
    }
}
