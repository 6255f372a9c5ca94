use super::agenda::{Class, HostIndex, Occurrence, Place};
use super::network::align_up;
use super::state::State;
use super::timers::{Listener, Slot};
use fencepost_clients::env::{TimerKey, whole_micros};
use std::task::{Context, Poll};
use std::time::Duration;

const SPAN_MAX: u64 = u64::MAX >> 20;

struct DueAfter {
    deadline: u64,
    is_now: bool,
    place: Option<Place>,
}

impl State {
    pub(crate) fn start_timer(&mut self, host: HostIndex, after: Duration) -> TimerKey {
        let due = self.due_after(host, after);
        let index = self.timers.take_slot(due.place);
        self.begin_timer(index, host, due);
        TimerKey(u64::from(index))
    }

    pub(crate) fn poll_timer(&mut self, timer: TimerKey, context: &Context<'_>) -> Poll<()> {
        let Some(slot) = self.timers.slot(timer) else { return Poll::Ready(()) };
        if slot.is_due {
            self.timers.release(timer.0 as u32);
            return Poll::Ready(());
        }
        let is_known = |listener: &Listener| matches!(listener, Listener::Task(waker) if waker.will_wake(context.waker()));
        if !slot.listener.as_ref().is_some_and(is_known) {
            slot.listener = Some(Listener::Task(context.waker().clone()));
        }
        Poll::Pending
    }

    pub(crate) fn cancel_timer(&mut self, timer: TimerKey) {
        if self.timers.slot(timer).is_some() {
            self.timers.release(timer.0 as u32);
        }
    }

    #[inline(always)]
    pub(crate) fn limit(&mut self, socket: u32, after: Duration) {
        let end = &mut self.sockets[socket as usize];
        let (host, timer) = (end.host, end.timer);
        let due = self.due_after(host, after);
        self.sockets[socket as usize].timed_out = due.is_now;
        let index = timer.unwrap_or_else(|| self.timer_of(socket));
        self.begin_timer(index, host, due);
    }

    pub(crate) fn lift_limit(&mut self, socket: u32) {
        let end = &mut self.sockets[socket as usize];
        end.timed_out = false;
        if let Some(index) = end.timer {
            self.timers.slots[index as usize].stop();
        }
    }

    #[cold]
    fn timer_of(&mut self, socket: u32) -> u32 {
        let index = self.timers.take_slot(None);
        self.timers.slots[index as usize].listener = Some(Listener::Socket(socket));
        self.sockets[socket as usize].timer = Some(index);
        index
    }

    #[inline(always)]
    fn due_after(&mut self, host: HostIndex, after: Duration) -> DueAfter {
        let span = whole_micros(after).min(SPAN_MAX);
        let now = self.now;
        let deadline = self.host(host).clock.monotonic(now).saturating_add(span);
        let place = if span > 0 { self.timer_place(host, deadline) } else { None };
        DueAfter { deadline, is_now: span == 0, place }
    }

    #[inline(always)]
    fn begin_timer(&mut self, index: u32, host: HostIndex, due: DueAfter) {
        let slot = &mut self.timers.slots[index as usize];
        (slot.number, slot.host, slot.deadline) = (self.timers.started, host, due.deadline);
        (slot.is_active, slot.is_due) = (true, due.is_now);
        self.timers.started += 1;
        self.put_timer(index, due.place);
    }

    pub(crate) fn rekey_timers(&mut self, host: HostIndex) {
        let is_pending = |slot: &Slot| slot.is_active && slot.host == host && !slot.is_due;
        let slots = self.timers.slots.iter().zip(0..).filter(|(slot, _)| is_pending(slot));
        let mut pending: Vec<(u64, u32, u64)> =
            slots.map(|(slot, index)| (slot.number, index, slot.deadline)).collect();
        pending.sort_unstable();
        for (_, index, deadline) in pending {
            let place = self.timer_place(host, deadline);
            self.put_timer(index, place);
        }
        self.rekey_machine_timer(host);
    }

    #[cold]
    pub(crate) fn skip_timer(&mut self, index: u32, place: Place) {
        self.agenda.take();
        if let Some(place) = self.timers.moves_to(index, place) {
            self.put_timer(index, Some(place));
        }
    }

    #[inline(always)]
    fn timer_place(&mut self, host: HostIndex, deadline: u64) -> Option<Place> {
        let at = self.host(host).clock.reaches(deadline)?;
        let at = align_up(at, self.quantum).max(self.now);
        Some(self.agenda.place(at, host, Class::Timer, host))
    }

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
