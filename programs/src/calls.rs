//! Emulates system calls. If a call waits, the group emulates it again after an event or timeout.

mod datagrams;
mod descriptors;
mod epoll;
mod file_locks;
mod futex;
mod getpid;
mod identity;
mod interfaces;
mod kept;
mod listeners;
mod named_process;
mod open;
mod poll;
mod process_groups;
mod processes;
mod shared_memory;
mod sockets;
mod streams;
mod time;
mod timers;

use crate::clock::Now;
use crate::file::FileId;
use crate::group::Group;
use crate::process::{Blocked, Deadline, Interest, Number};
use crate::sys::memory::Memory;

pub(crate) struct Call {
    pub(crate) thread: Number,
    pub(crate) process: Number,
    pub(crate) memory: Memory,
    pub(crate) number: i64,
    pub(crate) arguments: [u64; 6],
    pub(crate) now: Now,
    pub(crate) waited: Option<Blocked>,
    pub(crate) has_expired: bool,
}

pub(crate) enum Outcome {
    Done(i64),
    Native,
    Yields,
    Blocks(Blocked),
    EndsThread,
    EndsProcess(i32),
    /// The calling process sends itself SIGKILL.
    KillsProcess,
    Refused(String),
}

pub(crate) fn fail_with(error: i32) -> Outcome {
    Outcome::Done(-i64::from(error))
}

impl Call {
    pub(crate) fn descriptor(&self) -> i32 {
        self.arguments[0] as i32
    }

    fn deadline(&self, after_ns: Option<u64>) -> Option<Deadline> {
        match &self.waited {
            Some(waited) => waited.until,
            None => after_ns.map(|after| self.after(after)),
        }
    }

    fn after(&self, span_ns: u64) -> Deadline {
        Deadline { is_wall: false, at_ns: self.now.monotonic_ns.saturating_add(span_ns) }
    }

    fn block(&self, on: Interest, until: Option<Deadline>) -> Outcome {
        Outcome::Blocks(Blocked { on, until, restarts: false })
    }

    fn block_restartable(&self, on: Interest, until: Option<Deadline>) -> Outcome {
        Outcome::Blocks(Blocked { on, until, restarts: true })
    }

    fn timespec_ns(&self, at: u64) -> Option<u64> {
        let (seconds, nanos) =
            (self.memory.u64(at) as i64, self.memory.u64(at.wrapping_add(8)) as i64);
        let seconds = u64::try_from(seconds).ok()?;
        let nanos = u64::try_from(nanos).ok().filter(|nanos| *nanos < 1_000_000_000)?;
        Some(seconds.saturating_mul(1_000_000_000).saturating_add(nanos))
    }

    fn timeval_ns(&self, at: u64) -> u64 {
        let (seconds, micros) = (self.memory.u64(at), self.memory.u64(at.wrapping_add(8)));
        seconds.saturating_mul(1_000_000_000).saturating_add(micros.saturating_mul(1_000))
    }

    fn write_timespec(&self, at: u64, ns: u64) {
        if at != 0 {
            let both = u128::from(ns / 1_000_000_000) | u128::from(ns % 1_000_000_000) << 64;
            self.memory.write(at, &both.to_le_bytes());
        }
    }
}

impl Group {
    pub(crate) fn call(&mut self, call: &Call) -> Outcome {
        let number = call.number;
        if !matches!(number, libc::SYS_clock_gettime | libc::SYS_gettimeofday | libc::SYS_time) {
            self.clock_reads = 0;
        }
        match number {
            libc::SYS_read | libc::SYS_readv | libc::SYS_recvfrom | libc::SYS_recvmsg => {
                self.receive(call)
            }
            libc::SYS_write | libc::SYS_writev | libc::SYS_sendto | libc::SYS_sendmsg => {
                self.transmit(call)
            }
            libc::SYS_poll => self.poll(call),
            libc::SYS_select => self.select(call),
            libc::SYS_epoll_wait => self.epoll_wait(call),
            libc::SYS_ppoll => {
                let outcome = self.poll(call);
                self.leave_to_kernel_if_signalled(call, outcome)
            }
            libc::SYS_pselect6 => {
                let outcome = self.select(call);
                self.leave_to_kernel_if_signalled(call, outcome)
            }
            libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => {
                let outcome = self.epoll_wait(call);
                self.leave_to_kernel_if_signalled(call, outcome)
            }
            libc::SYS_epoll_ctl => self.epoll_ctl(call),
            libc::SYS_futex => self.futex(call),
            _ => self.dispatch_rare_call(call),
        }
    }

    fn leave_to_kernel_if_signalled(&mut self, call: &Call, outcome: Outcome) -> Outcome {
        let mask = self.mask_of_wait(call.thread);
        let is_signalled = mask
            .is_some_and(|mask| call.waited.is_none() && self.has_deliverable(call.thread, mask));
        if !matches!(outcome, Outcome::Blocks(_)) || !is_signalled {
            return outcome;
        }
        self.wait_in_kernel(call.thread);
        Outcome::Native
    }

    fn dispatch_rare_call(&mut self, call: &Call) -> Outcome {
        if let Some(outcome) = self
            .time_call(call)
            .or_else(|| self.timer_call(call))
            .or_else(|| self.identity_call(call))
            .or_else(|| self.file_lock_call(call))
            .or_else(|| self.descriptor_call(call))
            .or_else(|| self.socket_call(call))
            .or_else(|| self.process_call(call))
            .or_else(|| self.process_group_call(call))
            .or_else(|| self.named_process_call(call))
            .or_else(|| self.shared_memory_call(call))
            .or_else(|| self.open_call(call))
        {
            return outcome;
        }
        let number = call.number;
        Outcome::Refused(format!(
            "made system call {number} ({}), which is not emulated",
            crate::names::name(number)
        ))
    }

    fn file_of(&self, call: &Call) -> Option<FileId> {
        self.file(call.process, call.descriptor())
    }
}
