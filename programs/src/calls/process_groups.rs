//! Emulates process groups and sessions.

use super::{Call, Outcome, fail_with};
use crate::group::Group;
use crate::process::{Number, Process};

/// Processes that the numeric argument of a call selects.
#[derive(Clone, Copy)]
pub(super) enum Named {
    All,
    One(Number),
    InGroup(Number),
}

impl Named {
    pub(super) fn contains(self, number: Number, process: &Process) -> bool {
        match self {
            Named::All => true,
            Named::One(one) => one == number,
            Named::InGroup(group) => process.process_group == group,
        }
    }
}

impl Group {
    pub(super) fn process_group_call(&mut self, call: &Call) -> Option<Outcome> {
        let [a, b, ..] = call.arguments;
        let of = |read: fn(&Process) -> Number, named: u64| {
            let number = if named as u32 == 0 { call.process } else { named as Number };
            self.processes.get(&number).map(|process| read(process).into()).ok_or(libc::ESRCH)
        };
        let result = match call.number {
            libc::SYS_getpgrp => of(|process| process.process_group, 0),
            libc::SYS_getpgid => of(|process| process.process_group, a),
            libc::SYS_getsid => of(|process| process.session, a),
            libc::SYS_setpgid => self.set_process_group(call, a as i32, b as i32),
            libc::SYS_setsid => self.begin_session(call.process),
            _ => return None,
        };
        Some(result.map_or_else(fail_with, Outcome::Done))
    }

    /// Returns the processes that `kill` or `wait4` selects with `which`.
    pub(super) fn named(&self, call: &Call, which: i32) -> Named {
        match which {
            -1 => Named::All,
            0 => Named::InGroup(self.process(call.process).process_group),
            1.. => Named::One(which as Number),
            _ => Named::InGroup(which.unsigned_abs()),
        }
    }

    /// Returns the targets of `kill`. As in Linux, -1 spares the caller and the first process.
    pub(super) fn targets_of_kill(&self, call: &Call, target: i32) -> Vec<Number> {
        let named = self.named(call, target);
        let spared = [self.launch.first_process, call.process];
        let is_target = |(number, process): &(&Number, &Process)| match named {
            Named::All => !spared.contains(number),
            named => named.contains(**number, process),
        };
        self.processes.iter().filter(is_target).map(|(number, _)| *number).collect()
    }

    fn set_process_group(&mut self, call: &Call, which: i32, group: i32) -> Result<i64, i32> {
        let number = if which == 0 { call.process } else { which as Number };
        let group = if group == 0 { number as i32 } else { group };
        let group = Number::try_from(group).map_err(|_| libc::EINVAL)?;
        let process = self.processes.get(&number).ok_or(libc::ESRCH)?;
        let session = process.session;
        if process.parent == call.process {
            if session != self.process(call.process).session {
                return Err(libc::EPERM);
            }
            if process.has_executed {
                return Err(libc::EACCES);
            }
        } else if number != call.process {
            return Err(libc::ESRCH);
        }
        let mut all = self.processes.values();
        let exists = all.any(|other| other.process_group == group && other.session == session);
        if session == number || group != number && !exists {
            return Err(libc::EPERM);
        }
        self.process_mut(number).process_group = group;
        Ok(0)
    }

    fn begin_session(&mut self, number: Number) -> Result<i64, i32> {
        if self.processes.values().any(|process| process.process_group == number) {
            return Err(libc::EPERM);
        }
        let process = self.process_mut(number);
        (process.process_group, process.session) = (number, number);
        Ok(number.into())
    }
}
