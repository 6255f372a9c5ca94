//! When a server has to be woken, one deadline for each thing that happens by itself. Must never know what those things do.

use crate::machine::WallTime;

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

/// The deadlines, by the host's wall clock as Redis keeps them. The driver wakes by the monotonic clock, so that a stepped wall clock
/// makes a wake-up come early or late; each is then checked against the clock as it is and set anew.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    due: [Option<WallTime>; Timer::COUNT],
    /// The deadline that the driver was last told.
    armed: Option<WallTime>,
}

impl Timers {
    /// Sets or clears a deadline.
    pub(crate) fn set(&mut self, timer: Timer, due: Option<WallTime>) {
        self.due[timer as usize] = due;
    }

    /// Sets a deadline unless an earlier one is set.
    pub(crate) fn set_at_latest(&mut self, timer: Timer, due: WallTime) {
        let slot = &mut self.due[timer as usize];
        *slot = Some(slot.map_or(due, |earlier| earlier.min(due)));
    }

    /// Brings a deadline forward to now if it lies beyond a limit.
    pub(crate) fn limit(&mut self, timer: Timer, limit: WallTime, now: WallTime) {
        let slot = &mut self.due[timer as usize];
        if slot.is_some_and(|due| due > limit) {
            *slot = Some(now);
        }
    }

    /// Whether any deadline has come.
    pub(crate) fn any_due(&self, now: WallTime) -> bool {
        self.due.iter().flatten().any(|due| *due <= now)
    }

    /// Takes the deadline if it has come.
    pub(crate) fn take_if_due(&mut self, timer: Timer, now: WallTime) -> bool {
        let slot = &mut self.due[timer as usize];
        let due = slot.is_some_and(|due| due <= now);
        if due {
            *slot = None;
        }
        due
    }

    /// The driver's wake-up came: it owes none now.
    pub(crate) fn woken(&mut self) {
        self.armed = None;
    }

    /// The span in microseconds to ask the driver for, if what it was asked for is missing or too late.
    pub(crate) fn rearm(&mut self, now: WallTime) -> Option<u64> {
        let next = self.due.iter().flatten().min().copied()?;
        if self.armed.is_some_and(|armed| armed <= next) {
            return None;
        }
        self.armed = Some(next);
        Some(u64::try_from(next.0.saturating_sub(now.0)).unwrap_or(0))
    }
}
