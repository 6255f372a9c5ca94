//! Refuses a wait for a file lock. The holder may be any process of the real machine.

use super::{Call, Outcome};
use crate::group::{Group, blocked_in};

impl Group {
    pub(super) fn file_lock_call(&mut self, call: &Call) -> Option<Outcome> {
        let mut arguments = call.arguments;
        let operation = arguments[1] as i32;
        let without_wait = match (call.number, operation) {
            (libc::SYS_flock, _) => operation | libc::LOCK_NB,
            (libc::SYS_fcntl, libc::F_SETLKW) => libc::F_SETLK,
            (libc::SYS_fcntl, libc::F_OFD_SETLKW) => libc::F_OFD_SETLK,
            _ => return None,
        };
        arguments[1] = without_wait as u64;
        let result = self.inject(call.thread, (call.number, arguments));
        let is_locked = [libc::EAGAIN, libc::EACCES].contains(&(-result as i32));
        Some(match is_locked {
            true => Outcome::Refused(blocked_in(call.number)),
            false => Outcome::Done(result),
        })
    }
}
