//! Timers that follow the monotonic clock of their host, whose rate may change.

use super::agenda::{HostIndex, Place};
use fencepost_clients::env::TimerKey;
use std::collections::VecDeque;
use std::task::Waker;

/// A cancelled timer leaves its entry in the agenda. A later timer may take over the slot if the
/// entry is due before that timer. When the entry is due, it moves to the later timer's time.
#[derive(Default)]
pub(crate) struct Timers {
    pub(super) slots: Vec<Slot>,
    free: Vec<u32>,
    left_behind: VecDeque<u32>,
    pub(super) started: u64,
}

#[derive(Default)]
pub(super) struct Slot {
    pub(super) number: u64,
    pub(super) host: HostIndex,
    pub(super) deadline: u64,
    pub(super) is_active: bool,
    pub(super) is_due: bool,
    pub(super) place: Option<Place>,
    pub(super) entry: Option<Place>,
    pub(super) listener: Option<Listener>,
}

pub(crate) enum Listener {
    Task(Waker),
    Socket(u32),
}

impl Timers {
    pub(super) fn slot(&mut self, timer: TimerKey) -> Option<&mut Slot> {
        self.slots.get_mut(timer.0 as usize).filter(|slot| slot.is_active)
    }

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

    pub(crate) fn any_pending(&self, is_such: impl Fn(HostIndex) -> bool) -> bool {
        let will_be_due = |slot: &Slot| slot.is_active && !slot.is_due && slot.place.is_some();
        self.slots.iter().any(|slot| will_be_due(slot) && is_such(slot.host))
    }

    pub(crate) fn is_current(&self, index: u32, place: Place) -> bool {
        self.slots[index as usize].place == Some(place)
    }

    pub(super) fn moves_to(&mut self, index: u32, place: Place) -> Option<Place> {
        let slot = &mut self.slots[index as usize];
        let was_its_own = slot.entry.take_if(|entry| *entry == place).is_some();
        slot.place.filter(|_| was_its_own)
    }

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
