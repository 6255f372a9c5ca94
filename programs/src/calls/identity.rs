//! Emulates calls such as `getpid`, `uname` and `getrandom`.

use super::{Call, Outcome, fail_with};
use crate::group::Group;
use crate::process::Number;
use crate::stand_ins::{MEMORY, PROCESSORS};
use crate::sys::memory::Memory;
use rand_core::Rng;

const RANDOM_MAX: u64 = 1 << 16;

const AT_NULL: u64 = 0;
const AT_IGNORE: u64 = 1;
const AT_RANDOM: u64 = 25;
const AT_SYSINFO_EHDR: u64 = 33;

impl Group {
    pub(super) fn identity_call(&mut self, call: &Call) -> Option<Outcome> {
        let [a, b, c, ..] = call.arguments;
        let memory = call.memory;
        Some(match call.number {
            libc::SYS_getpid => {
                self.patch_getpid(call);
                Outcome::Done(call.process.into())
            }
            libc::SYS_getppid => Outcome::Done(self.process(call.process).parent.max(1).into()),
            libc::SYS_gettid => Outcome::Done(call.thread.into()),
            libc::SYS_set_tid_address => {
                self.thread_mut(call.thread).clear_at = a;
                self.inject(call.thread, (call.number, call.arguments));
                Outcome::Done(call.thread.into())
            }
            libc::SYS_uname => self.uname(call),
            libc::SYS_sethostname | libc::SYS_setdomainname => fail_with(libc::EPERM),
            libc::SYS_sysinfo => {
                memory.write(a, &system_information(call.now.monotonic_ns));
                Outcome::Done(0)
            }
            libc::SYS_getrandom => {
                let mut bytes = vec![0; b.min(RANDOM_MAX) as usize];
                self.random.fill_bytes(&mut bytes);
                memory.write(a, &bytes);
                Outcome::Done(bytes.len() as i64)
            }
            libc::SYS_sched_getaffinity => {
                if b < 8 {
                    return Some(fail_with(libc::EINVAL));
                }
                if a != 0 && self.real_number(a as Number).is_none() {
                    return Some(fail_with(libc::ESRCH));
                }
                memory.write(c, &((1u64 << PROCESSORS) - 1).to_le_bytes());
                Outcome::Done(8)
            }
            libc::SYS_getcpu => {
                for at in [a, b].into_iter().filter(|at| *at != 0) {
                    memory.write(at, &0u32.to_le_bytes());
                }
                Outcome::Done(0)
            }
            libc::SYS_sched_yield => Outcome::Yields,
            libc::SYS_prctl => prctl(call),
            _ => return None,
        })
    }

    fn uname(&mut self, call: &Call) -> Outcome {
        const FIELD: usize = 65;
        let mut answer = vec![0u8; 6 * FIELD];
        let texts = ["Linux", &self.launch.host_name, "6.1.0", "#1 SMP", "x86_64", "(none)"];
        for (index, text) in texts.into_iter().enumerate() {
            let text = &text.as_bytes()[..text.len().min(FIELD - 1)];
            answer[index * FIELD..index * FIELD + text.len()].copy_from_slice(text);
        }
        call.memory.write(call.arguments[0], &answer);
        Outcome::Done(0)
    }

    pub(crate) fn replace_auxiliary_values(
        &mut self,
        thread: Number,
        process: Number,
        clock: Option<u64>,
    ) {
        let memory = self.process(process).memory;
        let mut at = after_environment(memory, self.thread(thread).tracee.registers().rsp);
        loop {
            match memory.u64(at) {
                AT_NULL => return,
                AT_SYSINFO_EHDR => {
                    let note = clock.map_or([AT_IGNORE, 0], |clock| [AT_SYSINFO_EHDR, clock]);
                    memory.write(at, &note.map(u64::to_le_bytes).concat());
                }
                AT_RANDOM => {
                    let mut bytes = [0; 16];
                    self.random.fill_bytes(&mut bytes);
                    memory.write(memory.u64(at + 8), &bytes);
                }
                _ => {}
            }
            at += 16;
        }
    }
}

fn prctl(call: &Call) -> Outcome {
    let [option, value, ..] = call.arguments;
    match option as i32 {
        libc::PR_GET_TSC => {
            call.memory.write(value, &libc::PR_TSC_ENABLE.to_le_bytes());
            Outcome::Done(0)
        }
        libc::PR_SET_TSC if value as i32 == libc::PR_TSC_ENABLE => Outcome::Done(0),
        libc::PR_SET_TSC => {
            Outcome::Refused("disabled rdtsc with PR_SET_TSC, which is not emulated".to_owned())
        }
        // PR_SET_DUMPABLE could hide the process's memory from the tracer, and
        // PR_SET_CHILD_SUBREAPER would change the parent of orphans.
        libc::PR_SET_DUMPABLE => Outcome::Done(0),
        libc::PR_SET_CHILD_SUBREAPER => fail_with(libc::EINVAL),
        _ => Outcome::Native,
    }
}

fn after_environment(memory: Memory, stack: u64) -> u64 {
    let mut at = stack + 8 * (memory.u64(stack) + 2);
    while memory.u64(at) != 0 {
        at += 8;
    }
    at + 8
}

fn system_information(monotonic_ns: u64) -> [u8; 112] {
    let mut answer = [0; 112];
    answer[0..8].copy_from_slice(&(monotonic_ns / 1_000_000_000).to_le_bytes());
    answer[32..40].copy_from_slice(&MEMORY.to_le_bytes());
    answer[40..48].copy_from_slice(&(MEMORY / 2).to_le_bytes());
    answer[80..82].copy_from_slice(&50u16.to_le_bytes());
    answer[104..108].copy_from_slice(&1u32.to_le_bytes());
    answer
}
