//! Emulates timers that send signals. A timer that counts processor time never fires.

use super::{Call, Outcome, fail_with};
use crate::group::Group;
use crate::process::SignalTimer;

const SIGNAL_MAX: i32 = 64;

impl Group {
    pub(super) fn timer_call(&mut self, call: &Call) -> Option<Outcome> {
        Some(match call.number {
            libc::SYS_timer_create => self.signal_timer_create(call),
            libc::SYS_timer_settime => self.signal_timer_set(call),
            libc::SYS_timer_gettime => self.signal_timer_get(call),
            libc::SYS_timer_getoverrun => match self.signal_timer(call) {
                Some(timer) => Outcome::Done(i64::from(timer.overrun.min(i32::MAX as u32))),
                None => fail_with(libc::EINVAL),
            },
            libc::SYS_timer_delete => {
                let timer = call.arguments[0] as i32;
                match self.process_mut(call.process).timers.remove(&timer) {
                    Some(_) => Outcome::Done(0),
                    None => fail_with(libc::EINVAL),
                }
            }
            _ => return None,
        })
    }

    fn signal_timer(&mut self, call: &Call) -> Option<&mut SignalTimer> {
        let timer = call.arguments[0] as i32;
        self.process_mut(call.process).timers.get_mut(&timer)
    }

    fn signal_timer_create(&mut self, call: &Call) -> Outcome {
        let [clock, event, number, ..] = call.arguments;
        let id = self.process(call.process).next_timer;
        let (value, signal, notify) = match event {
            0 => (id as u64, libc::SIGALRM, libc::SIGEV_SIGNAL),
            at => (
                call.memory.u64(at),
                call.memory.u32(at + 8) as i32,
                call.memory.u32(at + 12) as i32,
            ),
        };
        let (sends, thread) = match notify {
            libc::SIGEV_NONE => (None, None),
            libc::SIGEV_SIGNAL | libc::SIGEV_THREAD => (Some((signal, value)), None),
            libc::SIGEV_THREAD_ID => (Some((signal, value)), Some(call.memory.u32(event + 16))),
            _ => return fail_with(libc::EINVAL),
        };
        let is_stranger =
            |thread| self.threads.get(&thread).is_none_or(|thread| thread.process != call.process);
        let is_signal = |(signal, _)| (1..=SIGNAL_MAX).contains(&signal);
        if !sends.is_none_or(is_signal) || thread.is_some_and(is_stranger) {
            return fail_with(libc::EINVAL);
        }
        let timer = SignalTimer {
            sends,
            thread,
            is_wall: matches!(
                clock as i32,
                libc::CLOCK_REALTIME | libc::CLOCK_TAI | libc::CLOCK_REALTIME_ALARM
            ),
            counts_work: matches!(
                clock as i32,
                libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID | i32::MIN..0
            ),
            next_ns: None,
            interval_ns: 0,
            overrun: 0,
        };
        call.memory.write(number, &id.to_le_bytes());
        let process = self.process_mut(call.process);
        process.next_timer += 1;
        process.timers.insert(id, timer);
        Outcome::Done(0)
    }

    fn signal_timer_set(&mut self, call: &Call) -> Outcome {
        let [_, flags, new, old, ..] = call.arguments;
        let (Some(interval_ns), Some(first)) = (call.timespec_ns(new), call.timespec_ns(new + 16))
        else {
            return fail_with(libc::EINVAL);
        };
        let Some(timer) = self.signal_timer(call) else { return fail_with(libc::EINVAL) };
        let before = *timer;
        let is_absolute = flags as i32 & libc::TIMER_ABSTIME != 0;
        let clock = timer.clock_ns(call.now);
        let at = if is_absolute { first } else { clock.saturating_add(first) };
        timer.next_ns = (first > 0 && !timer.counts_work).then_some(at);
        (timer.interval_ns, timer.overrun) = (interval_ns, 0);
        if old != 0 {
            write_signal_timer(call, old, before);
        }
        Outcome::Done(0)
    }

    fn signal_timer_get(&mut self, call: &Call) -> Outcome {
        let Some(timer) = self.signal_timer(call).copied() else { return fail_with(libc::EINVAL) };
        write_signal_timer(call, call.arguments[1], timer);
        Outcome::Done(0)
    }
}

fn write_signal_timer(call: &Call, at: u64, timer: SignalTimer) {
    let clock = timer.clock_ns(call.now);
    call.write_timespec(at, timer.interval_ns);
    call.write_timespec(at + 16, timer.next_ns.map_or(0, |next| next.saturating_sub(clock)));
}
