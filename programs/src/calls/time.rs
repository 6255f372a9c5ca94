use super::{Call, Outcome, fail_with};
use crate::file::{Kind, Timer};
use crate::group::Group;
use crate::process::{Deadline, Interest, Number};

const SECOND_NS: u64 = 1_000_000_000;

impl Group {
    pub(super) fn time_call(&mut self, call: &Call) -> Option<Outcome> {
        let [a, b, c, ..] = call.arguments;
        Some(match call.number {
            libc::SYS_clock_gettime => {
                self.clock_reads += 1;
                call.write_timespec(b, self.clock_ns(call, a as i32));
                Outcome::Done(0)
            }
            libc::SYS_gettimeofday => {
                self.clock_reads += 1;
                let ns = call.now.wall_ns;
                call.memory.write(a, &(ns / SECOND_NS).to_le_bytes());
                call.memory.write(a + 8, &(ns % SECOND_NS / 1_000).to_le_bytes());
                Outcome::Done(0)
            }
            libc::SYS_time => {
                self.clock_reads += 1;
                let seconds = call.now.wall_ns / SECOND_NS;
                if a != 0 {
                    call.memory.write(a, &seconds.to_le_bytes());
                }
                Outcome::Done(seconds as i64)
            }
            libc::SYS_nanosleep => self.sleep(call, a, None),
            libc::SYS_clock_nanosleep => self.sleep(call, c, Some((a as i32, b))),
            libc::SYS_timerfd_create => self.timer_create(call),
            libc::SYS_timerfd_settime => self.timer_set(call),
            libc::SYS_timerfd_gettime => self.timer_get(call),
            libc::SYS_alarm => self.alarm(call, u64::from(a as u32) * SECOND_NS, 0, None),
            libc::SYS_setitimer if a as i32 == libc::ITIMER_REAL => {
                let (interval, first) = (call.timeval_ns(b), call.timeval_ns(b.wrapping_add(16)));
                self.alarm(call, first, interval, (c != 0).then_some(c))
            }
            libc::SYS_setitimer => Outcome::Done(0),
            libc::SYS_getitimer => {
                self.write_alarm(call, (a as i32 == libc::ITIMER_REAL).then_some(call.process), b);
                Outcome::Done(0)
            }
            libc::SYS_getrusage => {
                call.memory.write(b, &[0; 144]);
                Outcome::Done(0)
            }
            libc::SYS_times => {
                call.memory.write(a, &[0; 32]);
                Outcome::Done((call.now.monotonic_ns / 10_000_000) as i64)
            }
            _ => return None,
        })
    }

    fn clock_ns(&self, call: &Call, clock: i32) -> u64 {
        match clock {
            libc::CLOCK_REALTIME
            | libc::CLOCK_REALTIME_COARSE
            | libc::CLOCK_TAI
            | libc::CLOCK_REALTIME_ALARM => call.now.wall_ns,
            _ => call.now.monotonic_ns,
        }
    }

    fn sleep(&mut self, call: &Call, wanted: u64, clock: Option<(i32, u64)>) -> Outcome {
        if call.has_expired {
            return Outcome::Done(0);
        }
        let Some(ns) = call.timespec_ns(wanted) else { return fail_with(libc::EINVAL) };
        let until = match clock {
            Some((clock, flags)) if flags & libc::TIMER_ABSTIME as u64 != 0 => {
                Some(Deadline { is_wall: clock == libc::CLOCK_REALTIME, at_ns: ns })
            }
            _ => call.deadline(Some(ns)),
        };
        if until.is_some_and(|until| call.now.has_passed(until)) {
            return Outcome::Done(0);
        }
        call.block(Interest::Nothing, until)
    }

    fn timer_create(&mut self, call: &Call) -> Outcome {
        let [clock, ..] = call.arguments;
        let native = self.inject(call.thread, (call.number, call.arguments));
        let is_wall = clock as i32 == libc::CLOCK_REALTIME;
        let kind = Kind::Timer(Timer { is_wall, ..Timer::default() });
        self.adopt_result(call, native, kind)
    }

    fn timer_set(&mut self, call: &Call) -> Outcome {
        let [_, flags, new, old, ..] = call.arguments;
        let Some(file) = self.file_of(call) else { return fail_with(libc::EBADF) };
        if old != 0 {
            self.write_timer(call, old);
        }
        let (Some(interval_ns), Some(first)) = (call.timespec_ns(new), call.timespec_ns(new + 16))
        else {
            return fail_with(libc::EINVAL);
        };
        let Kind::Timer(timer) = &mut self.files.get_mut(file).kind else {
            return fail_with(libc::EINVAL);
        };
        let clock = if timer.is_wall { call.now.wall_ns } else { call.now.monotonic_ns };
        let is_absolute = flags & 1 != 0;
        let at = if is_absolute { first } else { clock.saturating_add(first) };
        timer.next_ns = (first > 0).then_some(at);
        timer.interval_ns = interval_ns;
        self.files.raise_edge(file);
        Outcome::Done(0)
    }

    fn timer_get(&mut self, call: &Call) -> Outcome {
        if self.file_of(call).is_none() {
            return fail_with(libc::EBADF);
        }
        self.write_timer(call, call.arguments[1]);
        Outcome::Done(0)
    }

    fn write_timer(&mut self, call: &Call, at: u64) {
        let Some(file) = self.file_of(call) else { return };
        let Kind::Timer(timer) = &self.files.get(file).kind else { return };
        let clock = if timer.is_wall { call.now.wall_ns } else { call.now.monotonic_ns };
        call.write_timespec(at, timer.interval_ns);
        call.write_timespec(at + 16, timer.next_ns.map_or(0, |next| next.saturating_sub(clock)));
    }

    fn write_alarm(&self, call: &Call, process: Option<Number>, at: u64) {
        let alarm = process.and_then(|process| self.process(process).alarm_ns);
        let (rings, interval) = alarm.unwrap_or((call.now.monotonic_ns, 0));
        let left = rings.saturating_sub(call.now.monotonic_ns);
        for (at, ns) in [(at, interval), (at + 16, left)] {
            call.memory.write(at, &(ns / SECOND_NS).to_le_bytes());
            call.memory.write(at + 8, &(ns % SECOND_NS / 1_000).to_le_bytes());
        }
    }

    fn alarm(&mut self, call: &Call, first: u64, interval: u64, old: Option<u64>) -> Outcome {
        let now = call.now.monotonic_ns;
        if let Some(old) = old {
            self.write_alarm(call, Some(call.process), old);
        }
        let process = self.process_mut(call.process);
        let before = process.alarm_ns.map_or(0, |(at, _)| at.saturating_sub(now));
        process.alarm_ns = (first > 0).then_some((now + first, interval));
        Outcome::Done(if call.number == libc::SYS_alarm {
            before.div_ceil(SECOND_NS) as i64
        } else {
            0
        })
    }
}
