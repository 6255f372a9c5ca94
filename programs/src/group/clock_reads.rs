//! Lets threads read the clocks a limited number of times without a ptrace stop.

use super::{Group, Number};
use crate::sys::clock_pages::{Budget, PAGE};
use crate::sys::trace::Tracee;
use crate::vdso::image;
use libc::{c_long, user_regs_struct};
use std::cell::RefCell;

const CLOCK_READ_COSTS: [(u32, u64); 2] = [(50_000, 50_000), (1_000, 2_000)];
const CLOCK_READS_MAX_WITH_READY_THREADS: u64 = 100;
const SCRATCH_PAGES: usize = 2;
const SYSCALL: u64 = 0x050f;

struct CallInjector<'a> {
    tracee: Tracee,
    registers: &'a user_regs_struct,
    signals: RefCell<Vec<i32>>,
}

impl CallInjector<'_> {
    fn call(&self, call: c_long, arguments: [u64; 6]) -> Option<u64> {
        let (result, signals) = self.tracee.inject(self.registers, false, (call, arguments));
        let signals = signals.into_iter().filter(|signal| *signal != libc::SIGSTOP);
        self.signals.borrow_mut().extend(signals);
        u64::try_from(result).ok()
    }
}

impl Group {
    pub(crate) fn clock_read_ns(&self) -> u64 {
        let cost = CLOCK_READ_COSTS.iter().find(|(before, _)| self.clock_reads > *before);
        cost.map_or(super::CALL_NS, |(_, ns)| *ns)
    }

    pub(crate) fn grant_clock_reads(&mut self, number: Number) {
        let Some(page) = self.process(self.thread(number).process).clock else { return };
        let (now, step_ns) = (self.now(), self.clock_read_ns());
        let room = super::AHEAD_MAX_NS.saturating_sub(self.ahead_ns) / step_ns;
        let most =
            if self.others_are_ready() { CLOCK_READS_MAX_WITH_READY_THREADS } else { u64::MAX };
        let until_coarser = |(before, _): &(u32, u64)| before.checked_sub(self.clock_reads);
        let coarser = CLOCK_READ_COSTS.iter().filter_map(until_coarser).min();
        let cheap = coarser.map_or(u64::MAX, |clock_reads| u64::from(clock_reads) + 1);
        let (monotonic_ns, wall_ns) = (now.monotonic_ns, now.wall_ns);
        let clock_reads = room.min(most).min(cheap);
        self.budget = Budget { monotonic_ns, wall_ns, clock_reads, step_ns };
        self.clock_pages.set(page, self.budget);
    }

    pub(crate) fn count_clock_reads(&mut self, number: Number) -> u32 {
        let Some(page) = self.process(self.thread(number).process).clock else { return 0 };
        let clock_reads = self.clock_pages.clock_reads(page).min(self.budget.clock_reads);
        let ns = clock_reads * self.budget.step_ns;
        self.ahead_ns += ns;
        self.latest_ns = self.latest_ns.max(self.budget.monotonic_ns + ns);
        self.calls_since_wait += clock_reads;
        self.clock_reads += clock_reads as u32;
        self.thread_mut(number).clock_reads += clock_reads as u32;
        clock_reads as u32
    }

    pub(crate) fn map_clock_image(&mut self, number: Number) -> Option<u64> {
        let process = self.thread(number).process;
        self.release_clock(process);
        let tracee = self.thread(number).tracee;
        tracee.end_of_call();
        let before = tracee.registers();
        let code = tracee.peek(before.rip);
        tracee.poke(before.rip, code & !0xffff | SYSCALL);
        let after_call = user_regs_struct { rip: before.rip + 2, ..before };
        let injector = CallInjector { tracee, registers: &after_call, signals: RefCell::default() };
        let image = self.map_clock(process, &injector);
        self.thread_mut(number).signals.extend(injector.signals.into_inner());
        tracee.poke(before.rip, code);
        tracee.set_registers(&user_regs_struct { orig_rax: u64::MAX, ..before });
        image
    }

    fn map_clock(&mut self, name: Number, injector: &CallInjector) -> Option<u64> {
        for (first, end) in self.maps_of(name, |name| name == "[vdso]" || name.starts_with("[vvar"))
        {
            injector.call(libc::SYS_munmap, [first, end - first, 0, 0, 0, 0]);
        }
        let length = (SCRATCH_PAGES + 2) * PAGE;
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let places = [0, length as u64, protection as u64, flags as u64, u64::MAX, 0];
        let base = injector.call(libc::SYS_mmap, places)?;
        self.process_mut(name).scratch = Some(base);
        let at = base + ((SCRATCH_PAGES + 1) * PAGE) as u64;
        self.process(name).memory.write(at, &image());
        let protection = (libc::PROT_READ | libc::PROT_EXEC) as u64;
        injector.call(libc::SYS_mprotect, [at, PAGE as u64, protection, 0, 0, 0])?;
        let page = self.clock_pages.take();
        let is_mapped = self.map_page(name, base, page, injector);
        match is_mapped {
            true => self.process_mut(name).clock = Some(page),
            false => self.clock_pages.release(page),
        }
        is_mapped.then_some(at)
    }

    fn map_page(&self, process: Number, base: u64, page: usize, injector: &CallInjector) -> bool {
        let path = format!("{}\0", self.clock_pages.path());
        self.process(process).memory.write(base, path.as_bytes());
        let opened = injector.call(libc::SYS_open, [base, libc::O_RDWR as u64, 0, 0, 0, 0]);
        let Some(file) = opened else { return false };
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
        let at = base + (SCRATCH_PAGES * PAGE) as u64;
        let offset = (page * PAGE) as u64;
        let places = [at, PAGE as u64, protection as u64, flags as u64, file, offset];
        let mapped = injector.call(libc::SYS_mmap, places);
        injector.call(libc::SYS_close, [file, 0, 0, 0, 0, 0]);
        mapped == Some(at)
    }

    pub(crate) fn separate_clock(&mut self, number: Number) {
        let (process, tracee) = (self.thread(number).process, self.thread(number).tracee);
        let state = self.process(process);
        let (Some(_), Some(base)) = (state.clock, state.scratch) else { return };
        let page = self.clock_pages.take();
        let before = tracee.registers();
        let injector = CallInjector { tracee, registers: &before, signals: RefCell::default() };
        let is_mapped = self.map_page(process, base, page, &injector);
        self.thread_mut(number).signals.extend(injector.signals.into_inner());
        assert!(is_mapped, "a page of which the parent has one like it can be mapped");
        tracee.set_registers(&user_regs_struct { orig_rax: u64::MAX, ..before });
        self.release_clock(process);
        self.process_mut(process).clock = Some(page);
    }

    pub(crate) fn release_clock(&mut self, process: Number) {
        if let Some(page) = self.process_mut(process).clock.take() {
            self.clock_pages.release(page);
        }
    }

    fn maps_of(&self, process: Number, is_of_kind: impl Fn(&str) -> bool) -> Vec<(u64, u64)> {
        let real = self.process(process).memory.0;
        let maps = std::fs::read_to_string(format!("/proc/{real}/maps")).unwrap_or_default();
        let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
        let range = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let (first, end) = words.next()?.split_once('-')?;
            let is_kind = is_of_kind(words.nth(4)?);
            is_kind.then_some((hexadecimal(first)?, hexadecimal(end)?))
        };
        maps.lines().filter_map(range).collect()
    }
}
