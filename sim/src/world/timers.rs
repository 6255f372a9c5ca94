//! Timers: deadlines on a host's own monotonic clock, of tasks that sleep and of sockets with a
//! limit.
//!
//! The agenda holds true time, so a timer gets a new place when its host's clock changes its rate
//! or stands still.

use super::agenda::{Class, HostIndex, Occurrence, Place};
use super::network::align_up;
use super::state::State;
use fencepost_clients::env::{TimerKey, whole_micros};
use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Longer than any run, and yet far from the end of the clocks, in microseconds.
const SPAN_MAX: u64 = u64::MAX >> 20;

/// All timers of a run.
///
/// Most timers are time limits that are forgotten long before they are due. So an entry of the
/// agenda stands for a slot rather than for a timer: one that a forgotten timer leaves behind
/// serves the slot's next timer, which is put in its own place once the entry comes up.
#[derive(Default)]
pub(crate) struct Timers {
    slots: Vec<Slot>,
    /// Free slots without an entry on the agenda.
    free: Vec<u32>,
    /// Free slots with an entry, the oldest first.
    left_behind: VecDeque<u32>,
    /// How many timers were started.
    started: u64,
}

#[derive(Default)]
struct Slot {
    /// How many timers had been started before: the order in which they are put in new places.
    number: u64,
    host: HostIndex,
    deadline: u64,
    is_active: bool,
    is_due: bool,
    /// Where the timer stands in the order of events; `None` while its clock stands still, and for
    /// none.
    place: Option<Place>,
    /// Where the slot's entry on the agenda stands: never behind `place`.
    entry: Option<Place>,
    listener: Option<Listener>,
}

/// When a timer is due that starts now.
struct DueAfter {
    /// What the host's clock shows then.
    deadline: u64,
    /// Whether that is now.
    is_now: bool,
    /// Where it stands in the order of events, if it has to wait and the clock goes.
    place: Option<Place>,
}

/// Who hears of a timer that is due.
pub(crate) enum Listener {
    /// A task that sleeps.
    Task(Waker),
    /// A socket whose limit it is.
    Socket(u32),
}

impl Timers {
    fn slot(&mut self, timer: TimerKey) -> Option<&mut Slot> {
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
    fn moves_to(&mut self, index: u32, place: Place) -> Option<Place> {
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
    fn stop(&mut self) {
        (self.is_active, self.place) = (false, None);
    }
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

    /// Sets the limit of a socket. Its timer stays with it until it is closed.
    #[inline(always)]
    pub(crate) fn limit(&mut self, socket: u32, after: Duration) {
        let end = &mut self.sockets[socket as usize];
        let (host, timer) = (end.host, end.timer);
        let due = self.due_after(host, after);
        self.sockets[socket as usize].timed_out = due.is_now;
        let index = timer.unwrap_or_else(|| self.timer_of(socket));
        self.begin_timer(index, host, due);
    }

    /// Lifts the limit of a socket.
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

    /// Puts every pending timer of a host in its new place, after its clock has changed.
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

    /// Takes off an entry of a slot that came up and stands for no timer: it may be that of a timer
    /// that stands further behind.
    #[cold]
    pub(crate) fn pass_over_timer(&mut self, index: u32, place: Place) {
        self.agenda.take();
        if let Some(place) = self.timers.moves_to(index, place) {
            self.put_timer(index, Some(place));
        }
    }

    /// Where a timer stands that is due when its host's clock shows `deadline`. `None` while the
    /// clock stands still.
    #[inline(always)]
    fn timer_place(&mut self, host: HostIndex, deadline: u64) -> Option<Place> {
        let at = self.host(host).clock.reaches(deadline)?;
        let at = align_up(at, self.quantum).max(self.now);
        Some(self.agenda.place(at, host, Class::Timer, host))
    }

    /// Gives the timer of a slot its place, and the agenda an entry for it unless an earlier one
    /// will do.
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
