//! The timers of tasks: deadlines on a host's own monotonic clock. Must never know who waits.
//!
//! The agenda holds true time, so a timer gets a new place when its host's clock changes its rate or stands still.

use super::agenda::{Class, HostIndex, Occurrence, Place};
use super::network::align_up;
use super::state::State;
use fencepost_clients::env::TimerKey;
use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// All timers of a run.
///
/// Most timers are time limits that are forgotten long before they are due. So an entry of the agenda stands for a slot rather than for a timer: one
/// that a forgotten timer leaves behind serves the slot's next timer, which is put in its own place once the entry comes up.
#[derive(Default)]
pub(crate) struct Timers {
    slots: Vec<Slot>,
    /// Free slots without an entry on the agenda.
    free: Vec<u32>,
    /// Free slots with an entry, the oldest first.
    left_behind: VecDeque<u32>,
    /// Numbers that no timer has at present.
    free_numbers: Vec<u32>,
}

#[derive(Default)]
struct Slot {
    /// The timer's number: the last one that was given back, or a new one. Decides the order in which timers are put in new places.
    number: u32,
    host: HostIndex,
    deadline: u64,
    is_active: bool,
    is_due: bool,
    /// Where the timer stands in the order of events; `None` while its clock stands still, and for none.
    place: Option<Place>,
    /// Where the slot's entry on the agenda stands: never behind `place`.
    entry: Option<Place>,
    waker: Option<Waker>,
}

impl Timers {
    fn slot(&mut self, timer: TimerKey) -> Option<&mut Slot> {
        self.slots.get_mut(timer.0 as usize).filter(|slot| slot.is_active)
    }

    #[inline(always)]
    fn release(&mut self, timer: TimerKey) {
        let slot = &mut self.slots[timer.0 as usize];
        slot.is_active = false;
        slot.place = None;
        slot.waker = None;
        self.free_numbers.push(slot.number);
        match slot.entry {
            None => self.free.push(timer.0 as u32),
            Some(_) => self.left_behind.push_back(timer.0 as u32),
        }
    }

    /// A number for a timer that starts. There are as many as timers were ever pending at once.
    fn take_number(&mut self) -> u32 {
        let pending = || self.slots.len() - self.free.len() - self.left_behind.len();
        self.free_numbers.pop().unwrap_or_else(|| pending() as u32)
    }

    /// A free slot for a timer that is due at that place. An entry left behind must come up in an earlier instant.
    #[inline(always)]
    fn take_slot(&mut self, place: Option<Place>) -> u32 {
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

    /// Whether the agenda's entry at a place stands for a timer that is due there.
    pub(crate) fn is_current(&self, index: u32, place: Place) -> bool {
        self.slots[index as usize].place == Some(place)
    }

    /// The entry at a place was not current: where the slot's timer really stands, if that was its only entry.
    fn moves_to(&mut self, index: u32, place: Place) -> Option<Place> {
        let slot = &mut self.slots[index as usize];
        let was_its_own = slot.entry.take_if(|entry| *entry == place).is_some();
        slot.place.filter(|_| was_its_own)
    }

    /// The timer of a slot is due; its entry was taken off the agenda. Returns whom to wake.
    pub(crate) fn fire(&mut self, index: u32) -> Option<Waker> {
        let slot = &mut self.slots[index as usize];
        (slot.is_due, slot.place, slot.entry) = (true, None, None);
        slot.waker.take()
    }
}

impl State {
    pub(crate) fn start_timer(&mut self, host: HostIndex, after: Duration) -> TimerKey {
        let span = u64::try_from(after.as_micros()).unwrap_or(u64::MAX >> 20);
        let now = self.now;
        let deadline = self.host(host).clock.monotonic(now).saturating_add(span);
        let place = if span > 0 { self.timer_place(host, deadline) } else { None };
        let number = self.timers.take_number();
        let index = self.timers.take_slot(place);
        let slot = &mut self.timers.slots[index as usize];
        (slot.number, slot.host, slot.deadline) = (number, host, deadline);
        (slot.is_active, slot.is_due) = (true, span == 0);
        self.put_timer(index, place);
        TimerKey(u64::from(index))
    }

    pub(crate) fn poll_timer(&mut self, timer: TimerKey, context: &Context<'_>) -> Poll<()> {
        let Some(slot) = self.timers.slot(timer) else { return Poll::Ready(()) };
        if slot.is_due {
            self.timers.release(timer);
            return Poll::Ready(());
        }
        if !slot.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            slot.waker = Some(context.waker().clone());
        }
        Poll::Pending
    }

    pub(crate) fn cancel_timer(&mut self, timer: TimerKey) {
        if self.timers.slot(timer).is_some() {
            self.timers.release(timer);
        }
    }

    /// Puts every pending timer of a host in its new place, after its clock has changed.
    pub(crate) fn rekey_timers(&mut self, host: HostIndex) {
        let is_pending = |slot: &Slot| slot.is_active && slot.host == host && !slot.is_due;
        let slots = self.timers.slots.iter().zip(0..).filter(|(slot, _)| is_pending(slot));
        let mut pending: Vec<(u32, u32, u64)> =
            slots.map(|(slot, index)| (slot.number, index, slot.deadline)).collect();
        pending.sort_unstable();
        for (_, index, deadline) in pending {
            let place = self.timer_place(host, deadline);
            self.put_timer(index, place);
        }
        self.rekey_machine_timer(host);
    }

    /// Takes off an entry of a slot that came up and stands for no timer: it may be that of a timer that stands further behind.
    #[cold]
    pub(crate) fn pass_over_timer(&mut self, index: u32, place: Place) {
        self.agenda.take();
        if let Some(place) = self.timers.moves_to(index, place) {
            self.put_timer(index, Some(place));
        }
    }

    /// Where a timer stands that is due when its host's clock shows `deadline`. `None` while the clock stands still.
    #[inline(always)]
    fn timer_place(&mut self, host: HostIndex, deadline: u64) -> Option<Place> {
        let at = self.host(host).clock.reaches(deadline)?;
        let at = align_up(at, self.quantum).max(self.now);
        Some(self.agenda.place(at, host, Class::Timer, host))
    }

    /// Gives the timer of a slot its place, and the agenda an entry for it unless an earlier one will do.
    #[inline(always)]
    fn put_timer(&mut self, index: u32, place: Option<Place>) {
        let slot = &mut self.timers.slots[index as usize];
        slot.place = place;
        if let Some(place) = place
            && slot.entry.is_none_or(|entry| entry.time() >= place.time())
        {
            slot.entry = Some(place);
            self.agenda.enter_at(place, Occurrence::Timer(index));
        }
    }
}
