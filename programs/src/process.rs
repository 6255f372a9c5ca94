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
    /// The descriptors that are emulated.
    pub(crate) descriptors: BTreeMap<i32, FileId>,
    /// A page of our own in its memory, once there is one.
    pub(crate) scratch: Option<u64>,
    /// The page from which it reads the clocks.
    pub(crate) clock: Option<usize>,
    /// Where its code says its number without a call.
    pub(crate) knows_number_at: BTreeSet<u64>,
    /// Its memory is a copy of its parent's, that page included.
    pub(crate) has_clock_of_parent: bool,
    /// How it ended, as the kernel says it to its parent; it stays until it was waited for.
    pub(crate) ended: Option<i32>,
    /// When its alarm rings, and how long until the next one.
    pub(crate) alarm_ns: Option<(u64, u64)>,
    /// Its timers (`timer_create`), by their numbers.
    pub(crate) timers: BTreeMap<i32, SignalTimer>,
    /// The number of its next timer.
    pub(crate) next_timer: i32,
}

/// A timer that sends a signal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignalTimer {
    /// What it sends, and the value that comes along; nothing if it is only looked at.
    pub(crate) sends: Option<(i32, u64)>,
    /// The thread that it sends it to; `None` for any of the process.
    pub(crate) thread: Option<Number>,
    pub(crate) is_wall: bool,
    /// It counts processor time, of which none passes.
    pub(crate) counts_work: bool,
    /// When it rings next.
    pub(crate) next_ns: Option<u64>,
    pub(crate) interval_ns: u64,
    /// How often it rang without a signal of its own before the last signal was there.
    pub(crate) overrun: u32,
}

impl SignalTimer {
    /// What the clock that it goes by shows.
    pub(crate) fn clock_ns(&self, now: Now) -> u64 {
        if self.is_wall { now.wall_ns } else { now.monotonic_ns }
    }

    /// How often it has rung by now since it was last asked; it is set for the next time.
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
    /// Where the kernel writes a zero when it ends, and who waits there is woken.
    pub(crate) clear_at: u64,
    /// Where its own number was written in its memory, to be made ours.
    pub(crate) number_at: u64,
    /// The signals to deliver, the first at the next start.
    pub(crate) signals: Vec<i32>,
    pub(crate) registers: user_regs_struct,
    /// Whether it stands before the call of its registers; otherwise after one.
    pub(crate) is_before_call: bool,
    pub(crate) is_queued: bool,
    /// When it began to wait, in the order of all waits.
    pub(crate) waits_since: u64,
    /// How often it looked at a clock since its last call.
    pub(crate) looks: u32,
}

pub(crate) enum State {
    /// It was just made and has not stopped yet.
    Fresh,
    Ready,
    Blocked(Blocked),
    /// It waits in the kernel until a process that shares its memory has become another program.
    Lends(Number),
}

/// What a thread waits for in a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Blocked {
    pub(crate) on: Interest,
    pub(crate) until: Option<Deadline>,
    /// Whether the call is made again after a signal handler that says so.
    pub(crate) restarts: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Interest {
    /// Something happens to a file.
    Files,
    /// Somebody wakes the word.
    Futex { at: Word, mask: u32, is_woken: bool },
    /// A child ends.
    Children,
    /// Nothing but the deadline or a signal.
    Nothing,
    /// A signal that is blocked, or the deadline.
    Signal,
}

/// A word of memory at which threads wait for each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    /// Of one process.
    Own { process: Number, at: u64 },
    /// In memory that processes share, wherever each of them has it.
    Shared { device: u64, file: u64, at: u64 },
}

/// An instant of one of the clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Deadline {
    pub(crate) is_wall: bool,
    pub(crate) at_ns: u64,
}
