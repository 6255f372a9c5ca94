//! Timers: deadlines on a host's own monotonic clock, of tasks that sleep and of sockets with a
//! limit.
//!
//! The agenda holds true time, so a timer gets a new place when its host's clock changes its rate
//! or stands still (`set_timers.rs`).

use super::agenda::{HostIndex, Place};
use fencepost_clients::env::TimerKey;
use std::collections::VecDeque;
use std::task::Waker;

/// All timers of a run.
///
/// Most timers are time limits that are forgotten long before they are due. So an entry of the
/// agenda stands for a slot rather than for a timer: one that a forgotten timer leaves behind
/// serves the slot's next timer, which is put in its own place once the entry comes up.
#[derive(Default)]
pub(crate) struct Timers {
    pub(super) slots: Vec<Slot>,
    /// Free slots without an entry on the agenda.
    free: Vec<u32>,
    /// Free slots with an entry, the oldest first.
    left_behind: VecDeque<u32>,
    /// How many timers were started.
    pub(super) started: u64,
}

#[derive(Default)]
pub(super) struct Slot {
    /// How many timers had been started before: the order in which they are put in new places.
    pub(super) number: u64,
    pub(super) host: HostIndex,
    pub(super) deadline: u64,
    pub(super) is_active: bool,
    pub(super) is_due: bool,
    /// Where the timer stands in the order of events; `None` while its clock stands still, and for
    /// none.
    pub(super) place: Option<Place>,
    /// Where the slot's entry on the agenda stands: never behind `place`.
    pub(super) entry: Option<Place>,
    pub(super) listener: Option<Listener>,
}

/// Who hears of a timer that is due.
pub(crate) enum Listener {
    /// A task that sleeps.
    Task(Waker),
    /// A socket whose limit it is.
    Socket(u32),
}

impl Timers {
    pub(super) fn slot(&mut self, timer: TimerKey) -> Option<&mut Slot> {
        self.slots.get_mut(timer.0 as usize).filter(|slot| slot.is_active)
    }

    /// Forgets a timer; its slot is free.
    #[inline(always)]
    pub(crate) fn release(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        slot.stop();
        slot.listener = None;
        match slot.entry {
            None => self.free.push(index),
            Some(_) => self.left_behind.push_back(index),
        }
    }

    /// A free slot for a timer that is due at that place. An entry left behind must come up in an
    /// earlier instant.
    #[inline(always)]
    pub(super) fn take_slot(&mut self, place: Option<Place>) -> u32 {
        let serves = |slot: &Slot| match (slot.entry, place) {
            (Some(entry), Some(place)) => entry.time() < place.time(),
            _ => true,
        };
        if let Some(oldest) = self.left_behind.front()
            && serves(&self.slots[*oldest as usize])
            && let Some(oldest) = self.left_behind.pop_front()
        {
            return oldest;
        }
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        })
    }

    /// Whether a timer of such a host will be due. The agenda does not tell: its entry may stand in
    /// an earlier place than the timer.
    pub(crate) fn any_pending(&self, is_such: impl Fn(HostIndex) -> bool) -> bool {
        let will_be_due = |slot: &Slot| slot.is_active && !slot.is_due && slot.place.is_some();
        self.slots.iter().any(|slot| will_be_due(slot) && is_such(slot.host))
    }

    /// Whether the agenda's entry at a place stands for a timer that is due there.
    pub(crate) fn is_current(&self, index: u32, place: Place) -> bool {
        self.slots[index as usize].place == Some(place)
    }

    /// The entry at a place was not current: where the slot's timer really stands, if that was its
    /// only entry.
    pub(super) fn moves_to(&mut self, index: u32, place: Place) -> Option<Place> {
        let slot = &mut self.slots[index as usize];
        let was_its_own = slot.entry.take_if(|entry| *entry == place).is_some();
        slot.place.filter(|_| was_its_own)
    }

    /// The timer of a slot is due; its entry was taken off the agenda. Returns who hears of it.
    pub(crate) fn fire(&mut self, index: u32) -> Option<Listener> {
        let slot = &mut self.slots[index as usize];
        (slot.is_due, slot.place, slot.entry) = (true, None, None);
        match &slot.listener {
            Some(Listener::Socket(socket)) => Some(Listener::Socket(*socket)),
            _ => slot.listener.take(),
        }
    }
}

impl Slot {
    #[inline(always)]
    pub(super) fn stop(&mut self) {
        (self.is_active, self.place) = (false, None);
    }
}
