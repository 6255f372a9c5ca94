//! The processes and threads of a group, as the programs see them.

use crate::clock::Now;
use crate::file::FileId;
use crate::sys::memory::Memory;
use crate::sys::trace::Tracee;
use libc::user_regs_struct;
use std::collections::{BTreeMap, BTreeSet};

/// The number of a process or thread, as the programs see it.
pub(crate) type Number = u32;

pub(crate) struct Process {
    pub(crate) real: Tracee,
    pub(crate) parent: Number,
    pub(crate) memory: Memory,
    pub(crate) descriptors: BTreeMap<i32, FileId>,
    /// Our page in its memory, once mapped.
    pub(crate) scratch: Option<u64>,
    pub(crate) clock: Option<usize>,
    /// Addresses where its code returns its number without a call.
    pub(crate) knows_number_at: BTreeSet<u64>,
    /// Its memory is a copy of its parent's, including that page.
    pub(crate) has_clock_of_parent: bool,
    /// Its wait status; it stays until its parent waits for it.
    pub(crate) ended: Option<i32>,
    pub(crate) alarm_ns: Option<(u64, u64)>,
    pub(crate) timers: BTreeMap<i32, SignalTimer>,
    pub(crate) next_timer: i32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SignalTimer {
    /// Its signal and value; `None` if it is only polled.
    pub(crate) sends: Option<(i32, u64)>,
    /// The thread that receives it; `None` for any of the process.
    pub(crate) thread: Option<Number>,
    pub(crate) is_wall: bool,
    /// It counts processor time, which never advances.
    pub(crate) counts_work: bool,
    pub(crate) next_ns: Option<u64>,
    pub(crate) interval_ns: u64,
    /// Expiries since the last signal that were not signalled themselves.
    pub(crate) overrun: u32,
}

impl SignalTimer {
    pub(crate) fn clock_ns(&self, now: Now) -> u64 {
        if self.is_wall { now.wall_ns } else { now.monotonic_ns }
    }

    /// Expiries since the last call; sets the next one.
    pub(crate) fn rings(&mut self, now: Now) -> u64 {
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
    /// The kernel zeroes this word at its end, and wakes the waiters.
    pub(crate) clear_at: u64,
    /// The address that received its real number, to be replaced by ours.
    pub(crate) number_at: u64,
    /// The signals to deliver, the first at the next start.
    pub(crate) signals: Vec<i32>,
    pub(crate) registers: user_regs_struct,
    /// `true` if it is stopped before the call in its registers; otherwise after one.
    pub(crate) is_before_call: bool,
    pub(crate) is_queued: bool,
    /// The start of its wait, in the order of all waits.
    pub(crate) waits_since: u64,
    /// Clock reads since its last call.
    pub(crate) looks: u32,
}

pub(crate) enum State {
    /// It was just created and has not stopped yet.
    Fresh,
    Ready,
    Blocked(Blocked),
    /// It waits in the kernel until a process that shares its memory has called exec.
    Lends(Number),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Blocked {
    pub(crate) on: Interest,
    pub(crate) until: Option<Deadline>,
    /// `true` if a restarting signal handler restarts the call.
    pub(crate) restarts: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Interest {
    Files,
    /// A wake-up of the word.
    Futex {
        at: Word,
        mask: u32,
        is_woken: bool,
    },
    Children,
    /// Only the deadline or a signal.
    Nothing,
    /// A blocked signal, or the deadline.
    Signal,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    /// Of one process.
    Own { process: Number, at: u64 },
    /// In shared memory, at any address.
    Shared { device: u64, file: u64, at: u64 },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Deadline {
    pub(crate) is_wall: bool,
    pub(crate) at_ns: u64,
}
