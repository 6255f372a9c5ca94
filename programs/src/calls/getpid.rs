//! Makes `getpid` fast, by replacing its machine code with code that returns the process id.

use super::Call;
use crate::group::Group;
use crate::process::Number;

/// Machine code of an unmodified `getpid`: `mov eax, 39; syscall; ret`.
const ASKS: u64 = 0xc305_0f00_0000_27b8;
const BEFORE_STOP: u64 = 7;

/// Returns the machine code of the replacement: `mov eax, number; nop; nop; ret`.
fn getpid_code(number: Number) -> u64 {
    0xc390_9000_0000_00b8 | u64::from(number) << 8
}

impl Group {
    pub(super) fn patch_getpid(&mut self, call: &Call) {
        let thread = self.thread(call.thread);
        let at = thread.registers.rip - BEFORE_STOP;
        let page = self.process(call.process).clock;
        let is_alone = page.is_some_and(|page| !self.clock_pages.is_shared(page));
        if is_alone && call.memory.u64(at) == ASKS && !self.is_thread_inside(call, at) {
            thread.tracee.poke(at, getpid_code(call.process));
            self.process_mut(call.process).patched_getpids.insert(at);
        }
    }

    fn is_thread_inside(&self, call: &Call, at: u64) -> bool {
        let mut others = self
            .threads
            .iter()
            .filter(|(number, other)| **number != call.thread && other.process == call.process);
        let amid = at + 1..at + BEFORE_STOP;
        others.any(|(_, other)| amid.contains(&other.tracee.registers().rip))
    }

    pub(crate) fn restore_getpid(&mut self, process: Number, thread: Number) {
        for at in std::mem::take(&mut self.process_mut(process).patched_getpids) {
            self.thread(thread).tracee.poke(at, ASKS);
        }
    }

    pub(crate) fn update_getpid(&self, thread: Number) {
        let process = self.thread(thread).process;
        for at in &self.process(process).patched_getpids {
            self.thread(thread).tracee.poke(*at, getpid_code(process));
        }
    }
}
