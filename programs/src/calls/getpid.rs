//! `getpid` without a stop. Client libraries call it before each command to detect a fork. The C
//! library's function has three instructions: after its first stop, its code in the memory of the
//! process returns the number itself.

use super::Call;
use crate::group::Group;
use crate::process::Number;

/// `mov eax, 39; syscall; ret`, as one word.
const ASKS: u64 = 0xc305_0f00_0000_27b8;
const BEFORE_STOP: u64 = 7;

/// `mov eax, number; nop; nop; ret`.
fn knows(number: Number) -> u64 {
    0xc390_9000_0000_00b8 | u64::from(number) << 8
}

impl Group {
    /// Patches the function in the calling process, unless that shares its memory with another one.
    pub(super) fn teaches_number(&mut self, call: &Call) {
        let thread = self.thread(call.thread);
        let at = thread.registers.rip - BEFORE_STOP;
        let page = self.process(call.process).clock;
        let is_alone = page.is_some_and(|page| !self.clock_pages.is_shared(page));
        if is_alone && call.memory.u64(at) == ASKS && !self.is_amid(call, at) {
            thread.tracee.poke(at, knows(call.process));
            self.process_mut(call.process).knows_number_at.insert(at);
        }
    }

    /// Returns whether another thread of the process was interrupted between the instructions.
    fn is_amid(&self, call: &Call, at: u64) -> bool {
        let mut others = self
            .threads
            .iter()
            .filter(|(number, other)| **number != call.thread && other.process == call.process);
        let amid = at + 1..at + BEFORE_STOP;
        others.any(|(_, other)| amid.contains(&other.tracee.registers().rip))
    }

    /// Undoes the patch in a process that will share its memory with another one.
    pub(crate) fn forgets_number(&mut self, process: Number, thread: Number) {
        for at in std::mem::take(&mut self.process_mut(process).knows_number_at) {
            self.thread(thread).tracee.poke(at, ASKS);
        }
    }

    /// Corrects the number in a process whose memory is a copy of its parent's.
    pub(crate) fn corrects_number(&self, thread: Number) {
        let process = self.thread(thread).process;
        for at in &self.process(process).knows_number_at {
            self.thread(thread).tracee.poke(*at, knows(process));
        }
    }
}
