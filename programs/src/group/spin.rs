//! Distinguishes a thread that waits in a loop for another thread from a thread that computes. The
//! point at which the tracer interrupts a thread depends on the load of the machine. A thread that
//! computes must therefore continue to its next call; in a waiting loop, the point makes no
//! difference. The tracer recognizes such a loop by single steps: every round has the same
//! registers and stack, and makes no call.

use super::{Group, Number};
use crate::sys::memory::Memory;
use crate::sys::spawn::signal_thread;
use crate::sys::trace::{Stop, Tracee};
use libc::user_regs_struct;

const ROUND_MAX: usize = 4096;
/// Number of equal rounds that identify a waiting loop. A counter in memory usually changes the
/// parity flag within this many rounds.
const ROUNDS: usize = 16;
const PAGE: u64 = 4096;
/// Size in bytes of the area below the stack pointer that a function may use.
const RED_ZONE: u64 = 128;
/// The trap flag and the resume flag, which change during single steps.
const FLAGS_OF_TRACER: u64 = 1 << 8 | 1 << 16;

pub(crate) enum Activity {
    Computes,
    Waits,
    Stopped(Option<Stop>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct State([u64; 18]);

impl State {
    fn of(registers: &user_regs_struct) -> State {
        let it = registers;
        State([
            it.rip,
            it.rsp,
            it.eflags & !FLAGS_OF_TRACER,
            it.rax,
            it.rbx,
            it.rcx,
            it.rdx,
            it.rsi,
            it.rdi,
            it.rbp,
            it.r8,
            it.r9,
            it.r10,
            it.r11,
            it.r12,
            it.r13,
            it.r14,
            it.r15,
        ])
    }

    fn instruction(&self) -> u64 {
        self.0[0]
    }

    fn stack(&self) -> u64 {
        self.0[1]
    }
}

struct Stepper {
    tracee: Tracee,
    memory: Memory,
    state: State,
}

impl Stepper {
    fn step(&mut self) -> Result<State, Activity> {
        if !is_safe_to_step(&self.memory.read(self.state.instruction(), 2)) {
            return Err(Activity::Computes);
        }
        match self.tracee.step() {
            Some(Stop::Signal(libc::SIGTRAP)) => {}
            other => return Err(Activity::Stopped(other)),
        }
        self.state = State::of(&self.tracee.registers());
        Ok(self.state)
    }

    fn round(&mut self) -> Result<Vec<State>, Activity> {
        let first = self.state;
        let mut round = Vec::new();
        while round.len() < ROUND_MAX {
            round.push(self.step()?);
            if self.state == first {
                return Ok(round);
            }
        }
        Err(Activity::Computes)
    }

    /// Returns extended registers and the two pages around the stack pointer.
    fn surroundings(&self) -> (Vec<u8>, [Vec<u8>; 2]) {
        let page = (self.state.stack() - RED_ZONE) & !(PAGE - 1);
        let stack = [page, page + PAGE].map(|page| self.memory.read(page, PAGE as usize));
        (self.tracee.extended_registers(), stack)
    }

    fn repeats(&mut self) -> Result<Activity, Activity> {
        let round = self.round()?;
        let before = self.surroundings();
        for _ in 1..ROUNDS {
            for expected in &round {
                if self.step()? != *expected {
                    return Ok(Activity::Computes);
                }
            }
        }
        Ok(if self.surroundings() == before { Activity::Waits } else { Activity::Computes })
    }
}

/// Returns `false` for system calls, interrupts, and instructions that expose the trap flag.
fn is_safe_to_step(code: &[u8]) -> bool {
    let [first, second] = code else { return false };
    let first = if *first == 0x66 { *second } else { *first };
    !matches!(first, 0x9c | 0x9d | 0xcc..=0xcf) && !matches!(code, [0x0f, 0x05 | 0x34])
}

impl Group {
    pub(crate) fn examine(&self, number: Number) -> Activity {
        let thread = self.thread(number);
        let (tracee, process) = (thread.tracee, self.process(thread.process));
        signal_thread(process.real.0, tracee.0, libc::SIGSTOP);
        match tracee.wait() {
            Some(Stop::Signal(libc::SIGSTOP)) => {}
            other => return Activity::Stopped(other),
        }
        let state = State::of(&tracee.registers());
        let mut stepper = Stepper { tracee, memory: process.memory, state };
        stepper.repeats().unwrap_or_else(|activity| activity)
    }
}
