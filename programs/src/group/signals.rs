//! Handles signals, and emulates instructions that read the time.

use super::{Blocked, CALLS_OF_A_SIGNAL, Ending, Group, Interest, Number, State};
use crate::sys::trace::SignalInfo;

/// SIGCHLD, SIGCONT, SIGURG and SIGWINCH, which by default neither end nor stop a process.
const IGNORED: u64 = 1 << 16 | 1 << 17 | 1 << 22 | 1 << 27;
const SYS_SECCOMP: i32 = 1;
const SA_RESTART: u64 = libc::SA_RESTART as u64;

impl Group {
    pub(crate) fn signalled(&mut self, number: Number, signal: i32) -> super::Turn {
        let is_stop = matches!(signal, libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU);
        if is_stop || signal == libc::SIGSEGV && self.emulate_instruction(number) {
            if is_stop && self.others_are_ready() {
                self.queue(number);
                return super::Turn::Over;
            }
            return super::Turn::Continues;
        }
        self.charge_call();
        self.calls_since_wait += CALLS_OF_A_SIGNAL;
        let mut info = self.thread(number).tracee.signal_info();
        if signal == libc::SIGSYS && info.code() == SYS_SECCOMP {
            let why = format!("made the 32-bit system call {}, which is not emulated", info.call());
            self.ending = Some(Ending::NotEmulated(self.described(number, &why)));
            return super::Turn::Over;
        }
        if self.is_fatal(number, signal) {
            return self.deliver_fatal_signal(number, signal);
        }
        if self.set_sender(self.thread(number).process, &mut info) {
            self.thread(number).tracee.set_signal_info(&info);
        }
        self.thread_mut(number).signals.push(signal);
        super::Turn::Continues
    }

    pub(crate) fn set_sender(&self, process: Number, info: &mut SignalInfo) -> bool {
        let Some(sender) = info.sender() else { return false };
        let known = match sender == std::process::id() as i32 {
            true => self.senders.get(&(process, info.signal())),
            false => self.numbers.get(&sender),
        };
        info.replace_sender(known.copied().unwrap_or(0));
        true
    }

    fn is_fatal(&self, number: Number, signal: i32) -> bool {
        let bit = 1u64 << (signal - 1);
        let spared = self.set(number, "SigCgt:") | self.set(number, "SigIgn:") | IGNORED;
        spared & bit == 0
    }

    fn emulate_instruction(&mut self, number: Number) -> bool {
        let thread = self.thread(number);
        let (tracee, memory) = (thread.tracee, self.process(thread.process).memory);
        let mut registers = tracee.registers();
        let code = memory.read(registers.rip, 3);
        let length = match code.as_slice() {
            [0x0f, 0x31, ..] => 2,
            [0x0f, 0x01, 0xf9] => 3,
            _ => return false,
        };
        self.clock_reads += 1;
        self.charge_call();
        let ticks = self.now().monotonic_ns;
        registers.rax = ticks & 0xffff_ffff;
        registers.rdx = ticks >> 32;
        if length == 3 {
            registers.rcx = 0;
        }
        registers.rip += length;
        tracee.set_registers(&registers);
        true
    }

    pub(crate) fn check_signals(&mut self, process: Number) {
        self.files.signal_sent();
        let waiting: Vec<Number> = self
            .threads
            .iter()
            .filter(|(_, thread)| thread.process == process)
            .filter_map(|(number, thread)| {
                matches!(thread.state, State::Blocked(_)).then_some(*number)
            })
            .collect();
        for number in waiting {
            self.wake_for_blocked_signal(number);
            let concerns = self.deliverable_signals(number);
            if concerns != 0 {
                self.interrupt_wait(number, concerns);
                return;
            }
        }
    }

    fn wake_for_blocked_signal(&mut self, number: Number) {
        if let State::Blocked(Blocked { on: Interest::Signal, .. }) = self.thread(number).state {
            self.queue(number);
        }
    }

    pub(crate) fn pending(&self, number: Number) -> u64 {
        self.set(number, "SigPnd:") | self.set(number, "ShdPnd:")
    }

    pub(crate) fn has_deliverable(&self, number: Number, mask: u64) -> bool {
        let handled = self.set(number, "SigCgt:");
        let ignored = self.set(number, "SigIgn:") | IGNORED & !handled;
        self.pending(number) & !mask & !ignored != 0
    }

    fn set(&self, number: Number, name: &str) -> u64 {
        let real = self.thread(number).tracee.0;
        let text = std::fs::read_to_string(format!("/proc/{real}/task/{real}/status"));
        let text = text.unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| u64::from_str_radix(line.trim(), 16).ok()).unwrap_or(0)
    }

    fn deliverable_signals(&self, number: Number) -> u64 {
        let blocked = self.mask_of_wait(number).unwrap_or_else(|| self.set(number, "SigBlk:"));
        let handled = self.set(number, "SigCgt:");
        let ignored = self.set(number, "SigIgn:") | IGNORED & !handled;
        self.pending(number) & !blocked & !ignored
    }

    pub(crate) fn mask_of_wait(&self, number: Number) -> Option<u64> {
        let thread = self.thread(number);
        let (registers, memory) = (&thread.registers, self.process(thread.process).memory);
        let at = match registers.orig_rax as i64 {
            libc::SYS_rt_sigsuspend => registers.rdi,
            libc::SYS_ppoll => registers.r10,
            libc::SYS_pselect6 if registers.r9 != 0 => memory.u64(registers.r9),
            libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => registers.r8,
            _ => 0,
        };
        (at != 0).then(|| memory.u64(at))
    }

    pub(crate) fn wait_in_kernel(&mut self, number: Number) {
        let thread = self.thread(number);
        let mut registers = thread.registers;
        match registers.orig_rax as i64 {
            libc::SYS_ppoll => registers.rsi = 0,
            libc::SYS_pselect6 => registers.rdi = 0,
            _ => return,
        }
        thread.tracee.set_registers(&registers);
    }

    fn interrupt_wait(&mut self, number: Number, concerns: u64) {
        let State::Blocked(blocked) = self.thread(number).state else { return };
        let signal = concerns.trailing_zeros() as i32 + 1;
        self.write_remaining_time(number, blocked);
        let is_handled = self.set(number, "SigCgt:") & (1 << (signal - 1)) != 0;
        if self.mask_of_wait(number).is_some() {
            self.wait_in_kernel(number);
            self.thread_mut(number).state = State::Ready;
            self.queue(number);
            return;
        }
        if blocked.restarts && is_handled && self.restarts(number, signal) {
            let thread = self.thread_mut(number);
            let mut registers = thread.registers;
            registers.rax = registers.orig_rax;
            registers.orig_rax = u64::MAX;
            registers.rip -= 2;
            thread.tracee.set_registers(&registers);
            thread.state = State::Ready;
        } else {
            self.answers(number, -i64::from(libc::EINTR));
        }
        self.queue(number);
    }

    fn write_remaining_time(&mut self, number: Number, blocked: Blocked) {
        let now = self.now().monotonic_ns;
        let thread = self.thread(number);
        let registers = &thread.registers;
        let at = match registers.orig_rax as i64 {
            libc::SYS_nanosleep => registers.rsi,
            libc::SYS_clock_nanosleep if registers.rsi == 0 => registers.r10,
            _ => 0,
        };
        if let Some(until) = blocked.until.filter(|_| at != 0) {
            let left = until.at_ns.saturating_sub(now);
            let memory = self.process(thread.process).memory;
            memory.write(at, &(left / 1_000_000_000).to_le_bytes());
            memory.write(at + 8, &(left % 1_000_000_000).to_le_bytes());
        }
    }

    fn restarts(&mut self, number: Number, signal: i32) -> bool {
        let Some(scratch) = self.scratch(number) else { return false };
        let arguments = [signal as u64, 0, scratch, 8, 0, 0];
        let result = self.inject(number, (libc::SYS_rt_sigaction, arguments));
        let memory = self.process(self.thread(number).process).memory;
        result == 0 && memory.u64(scratch + 8) & SA_RESTART != 0
    }

    pub(crate) fn scratch(&mut self, number: Number) -> Option<u64> {
        let process = self.thread(number).process;
        if let Some(page) = self.process(process).scratch {
            return Some(page);
        }
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let arguments = [0, 8192, protection as u64, flags as u64, u64::MAX, 0];
        let page = self.inject(number, (libc::SYS_mmap, arguments));
        let page = u64::try_from(page).ok();
        self.process_mut(process).scratch = page;
        page
    }

    pub(crate) fn wait_for_exit(&self, number: Number) -> i32 {
        self.thread(number).tracee.wait_for_exit()
    }
}
