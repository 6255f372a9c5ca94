//! The steps of a group. Each thread runs until it waits, ends, or must let other threads run.

use crate::calls::{Call, Outcome};
use crate::group::{
    AHEAD_MAX_NS, Activity, CALLS_OF_A_PROCESS, CALLS_OF_AN_EXEC, Group, THREADS_MAX, Turn,
};
use crate::interface::{Clocks, Ending, Request, Step};
use crate::process::{Blocked, Number, Process, State, Thread};
use crate::sys::memory::Memory;
use crate::sys::ticker::Ticking;
use crate::sys::trace::{Stop, Tracee};

const CALLS_MAX: u64 = 1_000_000;
/// Maximum number of clock reads without another call. They take about 12.6 s of virtual time, or
/// 16.9 s if the caller rounds each wait up to 100 µs.
const CLOCK_READS_MAX: u32 = 300_000;

/// Number of calls after which a thread lets other threads run.
const TURN_CALLS_MAX: u32 = 300;
/// Processor time in nanoseconds after which the tracer first examines a thread while other threads
/// are ready.
const EXAMINED_AFTER_NS: u64 = 100_000_000;
/// Virtual time in nanoseconds that passes when the tracer interrupts a waiting loop.
const SPIN_NS: u64 = 10_000;
const SPINS_MAX: u32 = 100;
const CPU_MAX_NS: u64 = 20_000_000_000;
const IDLE_TICKS_MAX: u32 = 500;

impl Group {
    /// Runs the group until it ends, every thread waits, or the group is 100 µs of virtual time
    /// ahead of `clocks`. The monotonic clock must not go back between steps.
    pub fn step(&mut self, clocks: Clocks) -> Step {
        if clocks.monotonic_us != self.clocks.monotonic_us {
            self.ahead_ns = 0;
        }
        self.clocks = clocks;
        self.wake_expired();
        let ticking = Ticking::start();
        while self.ending.is_none() && self.ahead_ns < AHEAD_MAX_NS {
            self.wake_changed();
            let Some(number) = self.ready.pop_front() else { break };
            self.run(number);
        }
        self.wake_changed();
        drop(ticking);
        self.finish_step()
    }

    fn spin_reason(&self) -> Option<String> {
        if self.clock_reads > CLOCK_READS_MAX {
            return Some(format!("read a clock {CLOCK_READS_MAX} times without waiting"));
        }
        if self.spins_since_wait > SPINS_MAX {
            return Some(format!("waited {SPINS_MAX} times in a loop for another thread"));
        }
        (self.calls_since_wait > CALLS_MAX)
            .then(|| format!("made {CALLS_MAX} system calls without waiting"))
    }

    fn finish_step(&mut self) -> Step {
        if self.ending.is_some() {
            self.kill();
        }
        let closed = std::mem::take(&mut self.files.closed);
        self.requests.extend(closed.into_iter().map(|socket| Request::Close { socket }));
        if self.ready.is_empty() {
            (self.calls_since_wait, self.spins_since_wait) = (0, 0);
        } else if let Some(text) = self.spin_reason().filter(|_| self.ending.is_none()) {
            self.ending = Some(Ending::Stuck(self.described(self.ready[0], &text)));
            self.kill();
        }
        let wake_after_us = self.wake_after_us();
        let may_hear = !self.files.connections.is_empty() || self.files.has_listener();
        if self.ending.is_none() && wake_after_us.is_none() && !may_hear {
            self.ending = Some(Ending::Stuck(self.deadlock()));
            self.kill();
        }
        Step {
            requests: std::mem::take(&mut self.requests),
            wake_after_us: wake_after_us.filter(|_| self.ending.is_none()),
            is_idle: self.ready.is_empty(),
            ending: self.ending.clone(),
        }
    }

    pub(crate) fn run(&mut self, number: Number) {
        let Some(thread) = self.threads.get_mut(&number) else { return };
        thread.is_queued = false;
        match thread.state {
            State::Ready => {}
            State::Fresh => self.greet(number),
            State::Blocked(blocked) => match self.retry(number, blocked) {
                Turn::Continues => {}
                Turn::Over => return,
            },
            State::Lends(_) => return,
        }
        let mut calls = 0;
        while calls < TURN_CALLS_MAX && self.ahead_ns < AHEAD_MAX_NS {
            self.grant_clock_reads(number);
            let stop = self.run_to_call(number);
            calls += 1 + self.count_clock_reads(number);
            match self.handle(number, stop) {
                Turn::Continues => {}
                Turn::Over => return,
            }
            if self.ending.is_some() {
                return;
            }
        }
        self.queue(number);
    }

    fn greet(&mut self, number: Number) {
        let tracee = self.thread(number).tracee;
        while !matches!(
            tracee.wait(),
            Some(Stop::Signal(libc::SIGSTOP) | Stop::Exited(_) | Stop::Killed(_)) | None
        ) {
            tracee.resume(0);
        }
        let (at, process) = (self.thread(number).number_at, self.thread(number).process);
        if at != 0 {
            self.process(process).memory.write(at, &number.to_le_bytes());
        }
        if std::mem::take(&mut self.process_mut(process).has_clock_of_parent) {
            self.separate_clock(number);
            self.update_getpid(number);
        }
        self.thread_mut(number).state = State::Ready;
    }

    fn run_to_call(&mut self, number: Number) -> Option<Stop> {
        loop {
            let stop = self.run_to_stop(number);
            if stop != Some(Stop::Call) {
                return stop;
            }
            let thread = self.thread_mut(number);
            thread.registers = thread.tracee.registers();
            thread.is_before_call = true;
            if !self.has_made_folder(number) {
                return stop;
            }
        }
    }

    fn run_to_stop(&mut self, number: Number) -> Option<Stop> {
        let thread = self.thread_mut(number);
        let tracee = thread.tracee;
        let signal = if thread.signals.is_empty() { 0 } else { thread.signals.remove(0) };
        tracee.resume(signal);
        let (mut began, mut latest, mut idle, mut examine_at) = (None, 0, 0, EXAMINED_AFTER_NS);
        loop {
            match tracee.wait_once() {
                // A late SIGSTOP from `examine`: the thread had already stopped for another reason.
                Some(Stop::Signal(libc::SIGSTOP)) => tracee.resume(0),
                Some(stop) => return Some(stop),
                None => {}
            }
            let used = processor_ns(tracee);
            let since = used - *began.get_or_insert(used);
            idle = if used == latest { idle + 1 } else { 0 };
            latest = used;
            if since > examine_at && self.others_are_ready() {
                examine_at = 2 * since;
                match self.examine(number) {
                    Activity::Computes => tracee.resume(0),
                    Activity::Waits => return Some(Stop::Spin),
                    Activity::Stopped(Some(stop)) => return Some(stop),
                    Activity::Stopped(None) => {}
                }
            } else if since > CPU_MAX_NS || idle > IDLE_TICKS_MAX {
                self.ending = Some(Ending::Stuck(self.describe_standstill(number, idle > 0)));
                return None;
            }
        }
    }

    fn handle(&mut self, number: Number, stop: Option<Stop>) -> Turn {
        match stop {
            Some(Stop::Call) => self.handle_call(number),
            Some(Stop::Exec) => self.finish_exec(number),
            Some(Stop::Made { child, waits_for_it }) => self.add_child(number, child, waits_for_it),
            Some(Stop::Signal(signal)) => self.signalled(number, signal),
            Some(Stop::Spin) => self.give_way(number),
            Some(Stop::Exited(status)) => self.thread_ended(number, (status & 0xff) << 8),
            Some(Stop::Killed(signal)) => self.killed(number, signal),
            Some(Stop::Boundary | Stop::Event) => Turn::Continues,
            None => Turn::Over,
        }
    }

    fn give_way(&mut self, number: Number) -> Turn {
        self.preempted += 1;
        self.spins_since_wait += 1;
        self.ahead_ns += SPIN_NS;
        self.queue(number);
        Turn::Over
    }

    fn handle_call(&mut self, number: Number) -> Turn {
        self.charge_call();
        let call = self.call_of(number, None);
        let outcome = self.call(&call);
        self.apply(number, &call, outcome)
    }

    fn retry(&mut self, number: Number, blocked: Blocked) -> Turn {
        let call = self.call_of(number, Some(blocked));
        let outcome = self.call(&call);
        self.apply(number, &call, outcome)
    }

    fn call_of(&mut self, number: Number, waited: Option<Blocked>) -> Call {
        let now = self.now();
        let thread = self.thread(number);
        let registers = &thread.registers;
        let has_expired =
            waited.is_some_and(|waited| waited.until.is_some_and(|until| now.has_passed(until)));
        Call {
            thread: number,
            process: thread.process,
            memory: self.process(thread.process).memory,
            number: registers.orig_rax as i64,
            arguments: [
                registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8,
                registers.r9,
            ],
            now,
            waited,
            has_expired,
        }
    }

    fn apply(&mut self, number: Number, call: &Call, outcome: Outcome) -> Turn {
        match outcome {
            Outcome::Done(value) => {
                self.answers(number, value);
                self.log_call(number, call.number as u64, value);
                Turn::Continues
            }
            Outcome::Native => {
                self.log_call(number, call.number as u64, 0);
                Turn::Continues
            }
            Outcome::Yields => {
                self.answers(number, 0);
                self.queue(number);
                Turn::Over
            }
            Outcome::Blocks(blocked) => {
                if call.waited.is_none() {
                    self.waits += 1;
                    let since = self.waits;
                    self.thread_mut(number).waits_since = since;
                }
                self.thread_mut(number).state = State::Blocked(blocked);
                Turn::Over
            }
            Outcome::EndsThread => {
                self.log_call(number, call.number as u64, 0);
                self.end_thread(number)
            }
            Outcome::EndsProcess(status) => {
                self.log_call(number, call.number as u64, 0);
                self.end_process(number, status)
            }
            Outcome::KillsProcess => {
                self.log_call(number, call.number as u64, 0);
                self.kill_process(call.process);
                Turn::Over
            }
            Outcome::Refused(why) => {
                let text = self.described(number, &why);
                self.ending = Some(Ending::NotEmulated(text));
                Turn::Over
            }
        }
    }

    pub(crate) fn answers(&mut self, number: Number, value: i64) {
        let thread = self.thread_mut(number);
        let mut registers = thread.registers;
        registers.orig_rax = u64::MAX;
        registers.rax = value as u64;
        thread.tracee.set_registers(&registers);
        thread.state = State::Ready;
    }

    pub(crate) fn inject(&mut self, number: Number, call: (libc::c_long, [u64; 6])) -> i64 {
        let thread = self.thread_mut(number);
        let (result, signals) =
            thread.tracee.inject(&thread.registers, thread.is_before_call, call);
        thread.is_before_call = false;
        thread.signals.extend(signals.into_iter().filter(|signal| *signal != libc::SIGSTOP));
        result
    }

    fn finish_exec(&mut self, number: Number) -> Turn {
        let name = self.thread(number).process;
        let (tracee, thread_count) = (
            self.process(name).real,
            self.threads.values().filter(|it| it.process == name).count(),
        );
        if thread_count > 1 || self.thread(number).tracee != tracee {
            let why = "called execve in a process with several threads, which is not emulated";
            self.ending = Some(Ending::NotEmulated(self.described(number, why)));
            return Turn::Over;
        }
        self.charge_call();
        self.log_call(number, libc::SYS_execve as u64, 0);
        self.calls_since_wait += CALLS_OF_AN_EXEC;
        if self.thread(number).tracee.is_32_bit() {
            let why = "has become a 32-bit program, which is not emulated";
            self.ending = Some(Ending::NotEmulated(self.described(number, why)));
            return Turn::Over;
        }
        self.note_executed(name);
        let process = self.process_mut(name);
        process.has_executed = true;
        process.memory = Memory(tracee.0);
        process.scratch = None;
        process.patched_getpids.clear();
        process.timers.clear();
        let is_open = |descriptor: i32| {
            std::fs::symlink_metadata(format!("/proc/{}/fd/{descriptor}", tracee.0)).is_ok()
        };
        let closed: Vec<i32> =
            process.descriptors.keys().copied().filter(|one| !is_open(*one)).collect();
        closed.into_iter().for_each(|descriptor| self.forget_descriptor(name, descriptor));
        let thread = self.thread_mut(number);
        (thread.clear_at, thread.number_at) = (0, 0);
        let clock = self.map_clock_image(number);
        self.replace_auxiliary_values(number, name, clock);
        self.resume_vfork_parent(name);
        Turn::Continues
    }

    fn has_too_many(&mut self, number: Number) -> bool {
        let ended = self.processes.values().filter(|process| process.ended.is_some()).count();
        if self.threads.len() + ended <= THREADS_MAX {
            return false;
        }
        let children = match ended {
            0 => String::new(),
            _ => format!(", including {ended} zombie processes"),
        };
        let text = format!("has more than {THREADS_MAX} threads{children}");
        self.ending = Some(Ending::Stuck(self.described(number, &text)));
        true
    }

    fn add_child(&mut self, number: Number, child: i32, waits_for_it: bool) -> Turn {
        let new = self.take_number();
        let (call, arguments) = {
            let registers = &self.thread(number).registers;
            (registers.orig_rax as i64, [registers.rdi, registers.rdx, registers.r10])
        };
        let [flags, to_parent, to_child] = if call == libc::SYS_clone { arguments } else { [0; 3] };
        let owner = self.thread(number).process;
        let has = |flag: i32| flags & flag as u64 != 0;
        let process = if has(libc::CLONE_THREAD) { owner } else { new };
        if process == new {
            let is_sibling = has(libc::CLONE_PARENT);
            let parent = if is_sibling { self.process(owner).parent } else { owner };
            self.add_process((owner, parent), new, Tracee(child));
            let shares_memory = has(libc::CLONE_VM) || call == libc::SYS_vfork;
            if shares_memory {
                self.restore_getpid(owner, number);
                self.process_mut(new).patched_getpids.clear();
            }
            self.process_mut(new).has_clock_of_parent = !shares_memory;
        }
        if has(libc::CLONE_PARENT_SETTID) {
            self.process(owner).memory.write(to_parent, &new.to_le_bytes());
        }
        let mut thread = Thread::new(Tracee(child), process, State::Fresh);
        thread.clear_at = if has(libc::CLONE_CHILD_CLEARTID) { to_child } else { 0 };
        thread.number_at = if has(libc::CLONE_CHILD_SETTID) { to_child } else { 0 };
        self.threads.insert(new, thread);
        self.queue(new);
        if self.has_too_many(number) {
            return Turn::Over;
        }
        if waits_for_it || has(libc::CLONE_VFORK) {
            self.thread_mut(number).state = State::Lends(new);
            return Turn::Over;
        }
        self.return_number(number, new);
        Turn::Continues
    }

    fn add_process(&mut self, (maker, parent): (Number, Number), new: Number, real: Tracee) {
        self.calls_since_wait += CALLS_OF_A_PROCESS;
        self.numbers.insert(real.0, new);
        let descriptors = self.process(maker).descriptors.clone();
        descriptors.values().for_each(|file| self.files.retain(*file));
        let &Process { scratch, clock, process_group, session, .. } = self.process(maker);
        clock.into_iter().for_each(|page| self.clock_pages.retain(page));
        let process = Process {
            real,
            parent,
            process_group,
            session,
            has_executed: false,
            memory: Memory(real.0),
            descriptors,
            scratch,
            clock,
            patched_getpids: self.process(maker).patched_getpids.clone(),
            has_clock_of_parent: false,
            ended: None,
            alarm_ns: None,
            timers: Default::default(),
            next_timer: 0,
        };
        self.processes.insert(new, process);
    }

    fn return_number(&mut self, number: Number, new: Number) {
        let tracee = self.thread(number).tracee;
        tracee.end_of_call();
        let mut registers = tracee.registers();
        registers.rax = u64::from(new);
        tracee.set_registers(&registers);
    }

    pub(crate) fn resume_vfork_parent(&mut self, to: Number) {
        let lends = |thread: &Thread| matches!(thread.state, State::Lends(child) if child == to);
        let Some(number) =
            self.threads.iter().find_map(|(number, thread)| lends(thread).then_some(*number))
        else {
            return;
        };
        self.return_number(number, to);
        self.thread_mut(number).state = State::Ready;
        self.queue(number);
    }
}

fn processor_ns(tracee: Tracee) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{0}/task/{0}/schedstat", tracee.0));
    let number = |text: String| text.split(' ').next().and_then(|word| word.parse().ok());
    text.ok().and_then(number).unwrap_or(0)
}
