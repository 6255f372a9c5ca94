use crate::clock::Now;
use crate::file::FileId;
use crate::sys::memory::Memory;
use crate::sys::trace::Tracee;
use libc::user_regs_struct;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) type Number = u32;

pub(crate) struct Process {
    pub(crate) real: Tracee,
    pub(crate) parent: Number,
    pub(crate) process_group: Number,
    pub(crate) session: Number,
    pub(crate) has_executed: bool,
    pub(crate) memory: Memory,
    pub(crate) descriptors: BTreeMap<i32, FileId>,
    pub(crate) scratch: Option<u64>,
    pub(crate) clock: Option<usize>,
    pub(crate) patched_getpids: BTreeSet<u64>,
    pub(crate) has_clock_of_parent: bool,
    pub(crate) ended: Option<i32>,
    pub(crate) alarm_ns: Option<(u64, u64)>,
    pub(crate) timers: BTreeMap<i32, SignalTimer>,
    pub(crate) next_timer: i32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SignalTimer {
    pub(crate) sends: Option<(i32, u64)>,
    pub(crate) thread: Option<Number>,
    pub(crate) is_wall: bool,
    pub(crate) counts_work: bool,
    pub(crate) next_ns: Option<u64>,
    pub(crate) interval_ns: u64,
    pub(crate) overrun: u32,
}

impl SignalTimer {
    pub(crate) fn clock_ns(&self, now: Now) -> u64 {
        if self.is_wall { now.wall_ns } else { now.monotonic_ns }
    }

    pub(crate) fn take_expirations(&mut self, now: Now) -> u64 {
        let clock = self.clock_ns(now);
        let Some(at) = self.next_ns.filter(|at| *at <= clock) else { return 0 };
        let times = 1 + (clock - at).checked_div(self.interval_ns).unwrap_or(0);
        let is_periodic = self.interval_ns > 0;
        self.next_ns = is_periodic.then(|| at + self.interval_ns * times);
        times
    }
}

pub(crate) struct Thread {
    pub(crate) tracee: Tracee,
    pub(crate) process: Number,
    pub(crate) state: State,
    pub(crate) clear_at: u64,
    pub(crate) number_at: u64,
    pub(crate) signals: Vec<i32>,
    pub(crate) registers: user_regs_struct,
    pub(crate) is_before_call: bool,
    pub(crate) is_queued: bool,
    pub(crate) waits_since: u64,
    pub(crate) clock_reads: u32,
}

pub(crate) enum State {
    Fresh,
    Ready,
    Blocked(Blocked),
    /// Waits in the kernel until the child that borrows its memory calls `execve` or ends.
    Lends(Number),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Blocked {
    pub(crate) on: Interest,
    pub(crate) until: Option<Deadline>,
    pub(crate) restarts: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Interest {
    Files,
    Futex { at: Word, mask: u32, is_woken: bool },
    Children,
    Nothing,
    Signal,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    Own { process: Number, at: u64 },
    Shared { device: u64, file: u64, at: u64 },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Deadline {
    pub(crate) is_wall: bool,
    pub(crate) at_ns: u64,
}
