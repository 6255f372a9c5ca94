//! Replaces the simulated process or thread id in calls such as `prlimit64` with the real id.

use super::{Call, Outcome, fail_with};
use crate::group::Group;
use crate::process::Number;

/// First argument of `ioprio_get` and `ioprio_set`. The values of `getpriority` are 1 less.
const IOPRIO_WHO_PROCESS: u64 = 1;
const IOPRIO_WHO_PGRP: u64 = 2;

impl Group {
    pub(super) fn named_process_call(&mut self, call: &Call) -> Option<Outcome> {
        let [kind, ..] = call.arguments;
        let (place, kind) = match call.number {
            libc::SYS_capget | libc::SYS_capset => return Some(self.capabilities(call)),
            libc::SYS_sched_setaffinity
            | libc::SYS_sched_getparam
            | libc::SYS_sched_setparam
            | libc::SYS_sched_getscheduler
            | libc::SYS_sched_setscheduler
            | libc::SYS_sched_getattr
            | libc::SYS_sched_setattr
            | libc::SYS_get_robust_list
            | libc::SYS_prlimit64 => (0, IOPRIO_WHO_PROCESS),
            libc::SYS_getpriority | libc::SYS_setpriority => (1, kind + 1),
            libc::SYS_ioprio_get | libc::SYS_ioprio_set => (1, kind),
            _ => return None,
        };
        let mut arguments = call.arguments;
        let named = arguments[place] as Number;
        match kind {
            _ if named == 0 => return Some(Outcome::Native),
            IOPRIO_WHO_PROCESS => match self.real_number(named) {
                Some(real) => arguments[place] = real,
                None => return Some(fail_with(libc::ESRCH)),
            },
            IOPRIO_WHO_PGRP => return Some(fail_with(libc::ESRCH)),
            _ => return Some(Outcome::Native),
        }
        Some(Outcome::Done(self.inject(call.thread, (call.number, arguments))))
    }

    /// Executes `capget` or `capset`, whose header in memory contains the thread id.
    fn capabilities(&mut self, call: &Call) -> Outcome {
        let named_at = call.arguments[0] + 4;
        let named = call.memory.u32(named_at);
        if named == 0 {
            return Outcome::Native;
        }
        let Some(real) = self.real_number(named) else { return fail_with(libc::ESRCH) };
        call.memory.write(named_at, &(real as u32).to_le_bytes());
        let result = self.inject(call.thread, (call.number, call.arguments));
        call.memory.write(named_at, &named.to_le_bytes());
        Outcome::Done(result)
    }

    pub(super) fn real_number(&self, named: Number) -> Option<u64> {
        let of_thread = self.threads.get(&named).map(|thread| thread.tracee);
        let of_process = || self.processes.get(&named).map(|process| process.real);
        of_thread.or_else(of_process).map(|tracee| tracee.0 as u64)
    }
}
