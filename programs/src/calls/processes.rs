//! Handles calls that create, end, await or signal threads and processes.

use super::process_groups::Named;
use super::{Call, Outcome, fail_with};
use crate::group::Group;
use crate::process::{Interest, Number};
use crate::sys::spawn::signal_process;
use crate::sys::trace::SignalInfo;

const NAMESPACES: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET;

impl Group {
    pub(super) fn process_call(&mut self, call: &Call) -> Option<Outcome> {
        let [a, b, c, d, ..] = call.arguments;
        Some(match call.number {
            libc::SYS_clone => self.clone_call(call),
            libc::SYS_fork | libc::SYS_vfork => Outcome::Native,
            libc::SYS_exit => Outcome::EndsThread,
            libc::SYS_exit_group => Outcome::EndsProcess(a as i32),
            libc::SYS_wait4 => self.wait4(call),
            libc::SYS_waitid => self.waitid(call, a as i32, b, c, d as i32),
            libc::SYS_kill => self.kill_call(call, a as i32, b),
            libc::SYS_tgkill => self.signal_to_thread(call, a, b, c),
            libc::SYS_tkill => self.signal_to_thread(call, u64::MAX, a, b),
            libc::SYS_pause => call.block(Interest::Nothing, None),
            libc::SYS_rt_sigsuspend => self.suspend(call),
            libc::SYS_rt_sigtimedwait => self.signal_wait(call),
            libc::SYS_ptrace | libc::SYS_seccomp => fail_with(libc::EPERM),
            libc::SYS_rt_sigqueueinfo | libc::SYS_rt_tgsigqueueinfo => fail_with(libc::EPERM),
            _ => return None,
        })
    }

    fn clone_call(&mut self, call: &Call) -> Outcome {
        if call.arguments[0] & NAMESPACES as u64 != 0 {
            return fail_with(libc::EPERM);
        }
        let thread = self.thread_mut(call.thread);
        if thread.registers.rdi & libc::CLONE_UNTRACED as u64 != 0 {
            thread.registers.rdi &= !(libc::CLONE_UNTRACED as u64);
            thread.tracee.set_registers(&thread.registers);
        }
        Outcome::Native
    }

    fn ended_child(&self, parent: Number, awaited: Named) -> Result<Option<Number>, i32> {
        let mut children = self
            .processes
            .iter()
            .filter(|(number, child)| child.parent == parent && awaited.contains(**number, child))
            .peekable();
        if children.peek().is_none() {
            return Err(libc::ECHILD);
        }
        Ok(children.find(|(_, child)| child.ended.is_some()).map(|(number, _)| *number))
    }

    fn wait4(&mut self, call: &Call) -> Outcome {
        let [which, status, options, ..] = call.arguments;
        let awaited = self.named(call, which as i32);
        let child = match self.ended_child(call.process, awaited) {
            Err(error) => return fail_with(error),
            Ok(Some(child)) => child,
            Ok(None) if options as i32 & libc::WNOHANG != 0 => return Outcome::Done(0),
            Ok(None) => return call.block_restartable(Interest::Children, None),
        };
        let real = self.process(child).real.0 as u64;
        self.inject(call.thread, (libc::SYS_wait4, [real, 0, 0, 0, 0, 0]));
        let ended = self.processes.remove(&child).and_then(|child| child.ended).unwrap_or(0);
        if status != 0 {
            call.memory.write(status, &ended.to_le_bytes());
        }
        Outcome::Done(child.into())
    }

    fn waitid(&mut self, call: &Call, kind: i32, which: u64, info: u64, options: i32) -> Outcome {
        let awaited = match kind as libc::c_uint {
            libc::P_ALL => Named::All,
            libc::P_PID => Named::One(which as Number),
            libc::P_PGID if which == 0 => self.named(call, 0),
            libc::P_PGID => Named::InGroup(which as Number),
            _ => return fail_with(libc::EINVAL),
        };
        let child = match self.ended_child(call.process, awaited) {
            Err(error) => return fail_with(error),
            Ok(Some(child)) => child,
            Ok(None) if options & libc::WNOHANG != 0 => {
                call.memory.write(info, &[0; 24]);
                return Outcome::Done(0);
            }
            Ok(None) => return call.block_restartable(Interest::Children, None),
        };
        let real = self.process(child).real.0 as u64;
        let arguments = [libc::P_PID.into(), real, info, options as u64, 0, 0];
        let result = self.inject(call.thread, (libc::SYS_waitid, arguments));
        if info != 0 {
            call.memory.write(info + 16, &child.to_le_bytes());
        }
        if options & libc::WNOWAIT == 0 {
            self.processes.remove(&child);
        }
        Outcome::Done(result)
    }

    fn kill_call(&mut self, call: &Call, target: i32, signal: u64) -> Outcome {
        let targets = self.targets_of_kill(call, target);
        if targets.is_empty() {
            return fail_with(libc::ESRCH);
        }
        for target in targets.iter().copied().filter(|target| *target != call.process) {
            if self.processes.get(&target).is_none_or(|process| process.ended.is_some()) {
                continue;
            }
            if signal as i32 == libc::SIGSTOP {
                return self.refuse_stop(target);
            }
            self.signal_other(call, target, signal as i32);
        }
        // The caller comes last, because SIGKILL ends its call.
        if !targets.contains(&call.process) {
            return Outcome::Done(0);
        }
        match signal as i32 {
            libc::SIGSTOP => return self.refuse_stop(call.process),
            libc::SIGKILL => return Outcome::KillsProcess,
            _ => {}
        }
        let real = self.process(call.process).real.0 as u64;
        let result = self.inject(call.thread, (libc::SYS_kill, [real, signal, 0, 0, 0, 0]));
        self.check_signals(call.process);
        Outcome::Done(result)
    }

    fn signal_other(&mut self, call: &Call, target: Number, signal: i32) {
        if signal == libc::SIGKILL {
            self.kill_process(target);
            return;
        }
        self.senders.insert((target, signal), call.process);
        signal_process(self.process(target).real.0, signal);
        self.check_signals(target);
    }

    fn refuse_stop(&self, process: Number) -> Outcome {
        Outcome::Refused(format!("sent SIGSTOP to process {process}, which is not emulated"))
    }

    fn signal_to_thread(&mut self, call: &Call, process: u64, target: u64, signal: u64) -> Outcome {
        let Some(thread) = self.threads.get(&(target as Number)) else {
            return fail_with(libc::ESRCH);
        };
        let (number, real) = (thread.process, thread.tracee.0 as u64);
        if process != u64::MAX && process as Number != number {
            return fail_with(libc::ESRCH);
        }
        match signal as i32 {
            libc::SIGSTOP => return self.refuse_stop(number),
            libc::SIGKILL if number == call.process => return Outcome::KillsProcess,
            libc::SIGKILL => {
                self.signal_other(call, number, libc::SIGKILL);
                return Outcome::Done(0);
            }
            _ => {}
        }
        let real_process = self.process(number).real.0 as u64;
        let arguments = [real_process, real, signal, 0, 0, 0];
        let result = self.inject(call.thread, (libc::SYS_tgkill, arguments));
        self.check_signals(number);
        Outcome::Done(result)
    }

    fn suspend(&mut self, call: &Call) -> Outcome {
        let [mask, ..] = call.arguments;
        if self.has_deliverable(call.thread, call.memory.u64(mask)) {
            return Outcome::Native;
        }
        call.block(Interest::Nothing, None)
    }

    fn signal_wait(&mut self, call: &Call) -> Outcome {
        let [set, told, timeout, ..] = call.arguments;
        if self.pending(call.thread) & call.memory.u64(set) != 0 {
            let signal = self.inject(call.thread, (call.number, call.arguments));
            let mut info = SignalInfo::from_bytes(&call.memory.read(told, 128));
            if signal > 0 && told != 0 && self.set_sender(call.process, &mut info) {
                call.memory.write(told, &info.bytes());
            }
            return Outcome::Done(signal);
        }
        let after = (timeout != 0).then(|| call.timespec_ns(timeout).unwrap_or(0));
        if call.has_expired || after == Some(0) {
            return fail_with(libc::EAGAIN);
        }
        call.block(Interest::Signal, call.deadline(after))
    }
}
