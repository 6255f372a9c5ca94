//! The timers of tasks: deadlines on a host's own monotonic clock. Must never know who waits.
//!
//! The agenda holds true time, so a timer gets another place in it when its host's clock changes its rate or stands still.
//!
//! Most timers are time limits that are cancelled long before they are due, and the slot is used again for the next. So a slot has one entry on
//! the agenda at most: one that comes too early for the timer that the slot holds by then is entered again at that timer's own place.

use super::agenda::{Agenda, Class, HostIndex, Occurrence, Place};
use super::network::align_up;
use super::state::State;
use fencepost_clients::env::TimerKey;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// All timers of a run.
#[derive(Default)]
pub(crate) struct Timers {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Default)]
struct Slot {
    host: HostIndex,
    deadline: u64,
    /// Where the timer belongs on the agenda; `None` while its host's clock stands still.
    place: Option<Place>,
    /// Where the slot's entry is on the agenda; another entry of this slot is stale.
    entered: Option<Place>,
    is_active: bool,
    is_due: bool,
    waker: Option<Waker>,
}

impl Timers {
    fn slot(&mut self, timer: TimerKey) -> Option<&mut Slot> {
        let index = (timer.0 & 0xffff_ffff) as usize;
        self.slots.get_mut(index).filter(|slot| slot.is_active)
    }

    fn release(&mut self, timer: TimerKey) {
        let index = (timer.0 & 0xffff_ffff) as u32;
        let slot = &mut self.slots[index as usize];
        slot.is_active = false;
        slot.waker = None;
        self.free.push(index);
    }

    /// Whether the entry at a place means that the slot's timer is due there. If not, the entry has to be taken off; it is forgotten here.
    pub(crate) fn stands(&mut self, index: u32, place: Place, agenda: &mut Agenda) -> bool {
        let slot = &mut self.slots[index as usize];
        let is_awaited = slot.is_active && !slot.is_due;
        if is_awaited && slot.place == Some(place) {
            return true;
        }
        if slot.entered == Some(place) {
            slot.entered = None;
            if is_awaited {
                self.enter(index, agenda);
            }
        }
        false
    }

    /// The timer of a slot is due.
    pub(crate) fn fire(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        (slot.entered, slot.is_due) = (None, true);
        if let Some(waker) = slot.waker.take() {
            waker.wake();
        }
    }

    /// Makes sure that an entry comes no later than the timer's place.
    fn enter(&mut self, index: u32, agenda: &mut Agenda) {
        let slot = &mut self.slots[index as usize];
        if let Some(place) = slot.place
            && slot.entered.is_none_or(|entered| entered > place)
        {
            slot.entered = Some(place);
            agenda.enter_at(place, Occurrence::Timer(index));
        }
    }
}

impl State {
    pub(crate) fn start_timer(&mut self, host: HostIndex, after: Duration) -> TimerKey {
        let now = self.now;
        let clock = &self.host(host).clock;
        let span = u64::try_from(after.as_micros()).unwrap_or(u64::MAX >> 20);
        let deadline = clock.monotonic(now).saturating_add(span);
        let index = self.timers.free.pop().unwrap_or_else(|| {
            self.timers.slots.push(Slot::default());
            self.timers.slots.len() as u32 - 1
        });
        let slot = &mut self.timers.slots[index as usize];
        (slot.host, slot.deadline, slot.is_active, slot.is_due) = (host, deadline, true, span == 0);
        if span > 0 {
            self.enter_timer(index);
        }
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

    /// Enters every pending timer of a host anew, after its clock has changed.
    pub(crate) fn rekey_timers(&mut self, host: HostIndex) {
        for index in 0..self.timers.slots.len() {
            let slot = &mut self.timers.slots[index];
            if slot.is_active && slot.host == host && !slot.is_due {
                self.enter_timer(index as u32);
            }
        }
        self.rekey_machine_timer(host);
    }

    /// Gives a timer its place on the agenda.
    fn enter_timer(&mut self, index: u32) {
        let slot = &self.timers.slots[index as usize];
        let (host, deadline) = (slot.host, slot.deadline);
        let at = self.host(host).clock.reaches(deadline);
        let at = at.map(|at| align_up(at, self.quantum).max(self.now));
        self.timers.slots[index as usize].place = at.map(|at| self.agenda.reserve(at, host, Class::Timer, host));
        self.timers.enter(index, &mut self.agenda);
    }
}
