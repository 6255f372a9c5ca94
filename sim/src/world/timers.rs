//! The timers of tasks: deadlines on a host's own monotonic clock. Must never know who waits.
//!
//! The agenda holds true time, so a timer is entered anew when its host's clock changes its rate or stands still.

use super::agenda::{Class, HostIndex, Occurrence};
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
    /// Told by the agenda's entry; an entry of another generation is stale.
    generation: u32,
    host: HostIndex,
    deadline: u64,
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
        slot.generation += 1;
        slot.is_active = false;
        slot.waker = None;
        self.free.push(index);
    }

    /// Whether an entry of the agenda still stands for a timer.
    pub(crate) fn is_current(&self, index: u32, generation: u32) -> bool {
        let slot = &self.slots[index as usize];
        slot.is_active && slot.generation == generation
    }

    /// A timer of this generation is due.
    pub(crate) fn fire(&mut self, index: u32, generation: u32) {
        if self.is_current(index, generation) {
            let slot = &mut self.slots[index as usize];
            slot.is_due = true;
            if let Some(waker) = slot.waker.take() {
                waker.wake();
            }
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
                slot.generation += 1;
                self.enter_timer(index as u32);
            }
        }
        self.rekey_machine_timer(host);
    }

    fn enter_timer(&mut self, index: u32) {
        let slot = &self.timers.slots[index as usize];
        let (host, generation, deadline) = (slot.host, slot.generation, slot.deadline);
        if let Some(at) = self.host(host).clock.reaches(deadline) {
            let at = align_up(at, self.quantum).max(self.now);
            self.agenda.enter(at, host, Class::Timer, host, Occurrence::Timer(index, generation));
        }
    }
}
