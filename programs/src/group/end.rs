use super::{Ending, Group, Interest, Number, State};
use crate::process::{Thread, Word};
use crate::sys::memory::Memory;
use crate::sys::spawn::signal_process;

pub(crate) enum Turn {
    Continues,
    Over,
}

impl Group {
    pub(crate) fn end_thread(&mut self, number: Number) -> Turn {
        let process = self.thread(number).process;
        let others = self.threads.values().filter(|it| it.process == process).count() > 1;
        let is_first = self.thread(number).tracee == self.process(process).real;
        self.keep_memory_reachable(process, number);
        self.thread(number).tracee.resume(0);
        if others && is_first {
            // The kernel reports the exit of a process's first thread last, so do not wait for it.
            self.clear_thread_id(number);
            self.threads.remove(&number);
            return Turn::Over;
        }
        let status = self.wait_for_exit(number);
        self.thread_ended(number, status)
    }

    fn keep_memory_reachable(&mut self, process: Number, number: Number) {
        let is_other = |it: &(&Number, &Thread)| it.1.process == process && *it.0 != number;
        let other = self.threads.iter().find(is_other).map(|(_, thread)| thread.tracee.0);
        if let Some(other) = other
            && self.process(process).memory == Memory(self.thread(number).tracee.0)
        {
            self.process_mut(process).memory = Memory(other);
        }
    }

    pub(crate) fn thread_ended(&mut self, number: Number, status: i32) -> Turn {
        let process = self.thread(number).process;
        self.clear_thread_id(number);
        let was_first = self.thread(number).tracee == self.process(process).real;
        self.threads.remove(&number);
        if !self.threads.values().any(|it| it.process == process) {
            if !was_first {
                self.process(process).real.wait_if_there();
            }
            self.process_ended(process, status);
        }
        Turn::Over
    }

    fn clear_thread_id(&mut self, number: Number) {
        let thread = self.thread(number);
        let (process, word) = (thread.process, thread.clear_at);
        if word != 0 {
            self.process(process).memory.write(word, &0u32.to_le_bytes());
            self.wake_futex(Word::Own { process, at: word }, u32::MAX, u32::MAX);
        }
    }

    pub(crate) fn end_process(&mut self, number: Number, status: i32) -> Turn {
        let process = self.thread(number).process;
        self.thread(number).tracee.resume(0);
        self.remove_threads(process);
        self.process_ended(process, (status & 0xff) << 8);
        Turn::Over
    }

    pub(crate) fn killed(&mut self, number: Number, signal: i32) -> Turn {
        let process = self.thread(number).process;
        self.threads.remove(&number);
        self.remove_threads(process);
        self.process_ended(process, signal);
        Turn::Over
    }

    pub(crate) fn deliver_fatal_signal(&mut self, number: Number, signal: i32) -> Turn {
        let thread = self.thread(number);
        let process = thread.process;
        thread.tracee.resume(signal);
        self.killed_from_outside(process, signal);
        Turn::Over
    }

    pub(crate) fn kill_process(&mut self, process: Number) {
        signal_process(self.process(process).real.0, libc::SIGKILL);
        self.killed_from_outside(process, libc::SIGKILL);
    }

    pub(crate) fn killed_from_outside(&mut self, process: Number, signal: i32) {
        self.remove_threads(process);
        self.process_ended(process, signal);
    }

    fn remove_threads(&mut self, process: Number) {
        let first = self.process(process).real;
        let mut numbers: Vec<Number> = self
            .threads
            .iter()
            .filter_map(|(number, thread)| (thread.process == process).then_some(*number))
            .collect();
        numbers.sort_by_key(|number| self.thread(*number).tracee == first);
        let has_first = numbers.iter().any(|number| self.thread(*number).tracee == first);
        for number in numbers {
            self.wait_for_exit(number);
            self.threads.remove(&number);
        }
        if !has_first {
            first.wait_if_there();
        }
    }

    fn process_ended(&mut self, number: Number, status: i32) {
        let descriptors = std::mem::take(&mut self.process_mut(number).descriptors);
        descriptors.into_values().for_each(|file| self.files.release(file));
        self.process_mut(number).ended = Some(status);
        self.release_clock(number);
        self.resume_vfork_parent(number);
        if number == self.launch.first_process {
            self.ending = Some(match status & 0x7f {
                0 => Ending::Exited(status >> 8),
                signal => Ending::Killed(signal),
            });
            return;
        }
        let parent = self.process(number).parent;
        for process in self.processes.values_mut().filter(|process| process.parent == number) {
            process.parent = 0;
        }
        self.reap_orphans();
        if self.processes.get(&number).is_some_and(|process| !process.real.is_there()) {
            self.processes.remove(&number);
        }
        self.wake_all(Interest::Children);
        if self.processes.contains_key(&parent) {
            self.check_signals(parent);
        }
    }

    fn reap_orphans(&mut self) {
        let first = self.launch.first_process;
        self.processes.retain(|number, process| {
            let is_orphan = process.parent == 0 && process.ended.is_some() && *number != first;
            if is_orphan {
                process.real.reap();
            }
            !is_orphan
        });
    }

    pub(crate) fn kill(&mut self) {
        for process in self.processes.values().filter(|process| process.ended.is_none()) {
            signal_process(process.real.0, libc::SIGKILL);
        }
        let numbers: Vec<Number> = self.threads.keys().copied().collect();
        let is_first = |group: &Group, number: Number| {
            let thread = group.thread(number);
            thread.tracee == group.process(thread.process).real
        };
        let mut ordered = numbers;
        ordered.sort_by_key(|number| is_first(self, *number));
        for number in ordered {
            self.wait_for_exit(number);
            self.threads.remove(&number);
        }
        let all: Vec<Number> = self.processes.keys().copied().collect();
        for number in all {
            if self.process(number).ended.is_none() {
                self.process(number).real.wait_if_there();
            }
            let descriptors = std::mem::take(&mut self.process_mut(number).descriptors);
            descriptors.into_values().for_each(|file| self.files.release(file));
            self.process_mut(number).ended.get_or_insert(libc::SIGKILL);
        }
        // Reap all processes: once all have ended, the tracer is the parent of every zombie.
        self.processes.values().for_each(|process| process.real.reap());
        self.ready.clear();
        self.remove_shared_files();
    }

    pub(crate) fn described(&self, number: Number, what: &str) -> String {
        let Some(thread) = self.threads.get(&number) else { return what.to_owned() };
        let real = thread.tracee.0;
        let program = std::fs::read_to_string(format!("/proc/{real}/comm")).unwrap_or_default();
        format!("{}: thread {number} ({}) {what}", self.launch.command.join(" "), program.trim())
    }

    pub(crate) fn describe_standstill(&self, number: Number, is_idle: bool) -> String {
        let real = self.thread(number).tracee.0;
        let call = std::fs::read_to_string(format!("/proc/{real}/syscall")).unwrap_or_default();
        let call = call.split(' ').next().unwrap_or_default().trim().to_owned();
        let what = match (is_idle, call.parse::<i64>()) {
            (true, Ok(call)) => blocked_in(call),
            (true, Err(_)) => "is blocked in the kernel".to_owned(),
            (false, _) => "used 20 s of processor time without making a system call".to_owned(),
        };
        self.described(number, &what)
    }

    pub(crate) fn deadlock(&self) -> String {
        let waits = self.threads.iter().map(|(number, thread)| match &thread.state {
            State::Blocked(blocked) => {
                let call = crate::names::name(thread.registers.orig_rax as i64);
                format!("thread {number} in {call} ({:?})", blocked.on)
            }
            _ => format!("thread {number}"),
        });
        let waits: Vec<String> = waits.take(8).collect();
        format!(
            "{}: every thread waits for an event that cannot happen: {}",
            self.launch.command.join(" "),
            waits.join(", ")
        )
    }
}

pub(crate) fn blocked_in(call: i64) -> String {
    let name = crate::names::name(call);
    format!("is blocked in system call {call} ({name}), which is not emulated in this state")
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        self.temporary.remove();
    }
}
