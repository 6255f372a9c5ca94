//! Wakes threads when their deadlines pass and when their events happen.

use super::{Blocked, Deadline, Group, Interest, Number, State};
use crate::clock::Now;
use crate::process::{SignalTimer, Thread, Word};
use crate::sys::spawn::{signal_of_timer, signal_process};

/// Interval at which the group rechecks threads that wait for a wall-clock time, because a clock
/// step may end such a wait.
const WALL_CHECK_NS: u64 = 100_000_000;

impl Now {
    pub(crate) fn has_passed(self, deadline: Deadline) -> bool {
        self.left_ns(deadline) == 0
    }

    fn left_ns(self, deadline: Deadline) -> u64 {
        let clock = if deadline.is_wall { self.wall_ns } else { self.monotonic_ns };
        deadline.at_ns.saturating_sub(clock)
    }
}

impl Group {
    pub(crate) fn wake_expired(&mut self) {
        let now = self.now();
        let is_due = |state: &State| match state {
            State::Blocked(blocked) => blocked.until.is_some_and(|until| now.has_passed(until)),
            _ => false,
        };
        let due: Vec<Number> = self
            .threads
            .iter()
            .filter_map(|(number, thread)| is_due(&thread.state).then_some(*number))
            .collect();
        due.into_iter().for_each(|number| self.queue(number));
        if self.files.timers().any(|timer| timer.next_ns.is_some()) {
            self.files.has_changed = true;
        }
        self.ring_alarms(now);
        self.ring_timers(now);
    }

    fn ring_alarms(&mut self, now: Now) {
        let numbers: Vec<Number> = self.processes.keys().copied().collect();
        for number in numbers {
            let process = self.process_mut(number);
            let Some((at, interval)) = process.alarm_ns else { continue };
            if at <= now.monotonic_ns {
                process.alarm_ns =
                    (interval > 0).then_some((now.monotonic_ns + interval, interval));
                let real = process.real.0;
                signal_process(real, libc::SIGALRM);
                self.check_signals(number);
            }
        }
    }

    fn ring_timers(&mut self, now: Now) {
        let numbers: Vec<(Number, i32)> = self
            .processes
            .iter()
            .flat_map(|(number, process)| process.timers.keys().map(|timer| (*number, *timer)))
            .collect();
        for (number, id) in numbers {
            let Some(timer) = self.process_mut(number).timers.get_mut(&id) else { continue };
            let times = timer.take_expirations(now);
            if times > 0 {
                let timer = *timer;
                self.send_timer_signal(number, id, timer, times);
            }
        }
    }

    fn send_timer_signal(&mut self, number: Number, id: i32, timer: SignalTimer, times: u64) {
        let Some((signal, value)) = timer.sends else { return };
        let process = self.process(number).real.0;
        let to = timer.thread.and_then(|thread| self.threads.get(&thread));
        let to = to.map(|thread| thread.tracee.0);
        let of_process = |thread: &Thread| thread.process == number;
        let some_thread =
            self.threads.iter().find_map(|(thread, it)| of_process(it).then_some(*thread));
        let asked = timer.thread.or(some_thread);
        let is_pending = asked.is_some_and(|thread| self.pending(thread) & 1 << (signal - 1) != 0);
        let overrun = match is_pending {
            true => timer.overrun.saturating_add(times as u32),
            false => times as u32 - 1,
        };
        if let Some(timer) = self.process_mut(number).timers.get_mut(&id) {
            timer.overrun = overrun;
        }
        if !is_pending {
            signal_of_timer((process, to), signal, (id, overrun, value));
            self.check_signals(number);
        }
    }

    pub(crate) fn wake_changed(&mut self) {
        if !std::mem::take(&mut self.files.has_changed) {
            return;
        }
        self.wake_all(Interest::Files);
    }

    pub(crate) fn wake_all(&mut self, interest: Interest) {
        let waits =
            |state: &State| matches!(state, State::Blocked(blocked) if blocked.on == interest);
        let waiting: Vec<Number> = self
            .threads
            .iter()
            .filter_map(|(number, thread)| waits(&thread.state).then_some(*number))
            .collect();
        waiting.into_iter().for_each(|number| self.queue(number));
    }

    fn waiters(&self, word: Word, bits: u32, most: u32) -> Vec<Number> {
        let waits = |state: &State| match state {
            State::Blocked(blocked) => matches!(blocked.on,
                Interest::Futex { at, mask, is_woken: false } if at == word && mask & bits != 0),
            _ => false,
        };
        let mut waiting: Vec<(u64, Number)> = self
            .threads
            .iter()
            .filter(|(_, thread)| waits(&thread.state))
            .map(|(number, thread)| (thread.waits_since, *number))
            .collect();
        waiting.sort_unstable();
        waiting.into_iter().map(|(_, number)| number).take(most as usize).collect()
    }

    pub(crate) fn wake_futex(&mut self, word: Word, most: u32, bits: u32) -> u32 {
        let woken = self.waiters(word, bits, most);
        for number in &woken {
            if let State::Blocked(blocked) = &mut self.thread_mut(*number).state
                && let Interest::Futex { is_woken, .. } = &mut blocked.on
            {
                *is_woken = true;
            }
            self.queue(*number);
        }
        woken.len() as u32
    }

    pub(crate) fn requeue_futex(&mut self, from: Word, to: Word, most: u32) -> u32 {
        let moved = self.waiters(from, u32::MAX, most);
        for number in &moved {
            if let State::Blocked(blocked) = &mut self.thread_mut(*number).state
                && let Interest::Futex { at, .. } = &mut blocked.on
            {
                *at = to;
            }
        }
        moved.len() as u32
    }

    pub(crate) fn wake_after_us(&mut self) -> Option<u64> {
        let ahead_us = self.ahead_ns.div_ceil(1_000);
        if self.others_are_ready() {
            return Some(ahead_us.max(1));
        }
        let now = self.now();
        let of_threads = self.threads.values().filter_map(|thread| match &thread.state {
            State::Blocked(Blocked { until, .. }) => *until,
            _ => None,
        });
        let of_timers = self.files.timers().filter_map(|timer| {
            timer.next_ns.map(|at_ns| Deadline { is_wall: timer.is_wall, at_ns })
        });
        let of_alarms = self.processes.values().filter_map(|process| {
            process.alarm_ns.map(|(at_ns, _)| Deadline { is_wall: false, at_ns })
        });
        let of_signals = self.processes.values().flat_map(|process| {
            process.timers.values().filter_map(|timer| {
                timer.next_ns.map(|at_ns| Deadline { is_wall: timer.is_wall, at_ns })
            })
        });
        let left = |deadline: Deadline| {
            let left = now.left_ns(deadline);
            if deadline.is_wall { left.min(WALL_CHECK_NS) } else { left }
        };
        let first =
            of_threads.chain(of_timers).chain(of_alarms).chain(of_signals).map(left).min()?;
        Some(ahead_us + first.div_ceil(1_000).max(1))
    }
}
