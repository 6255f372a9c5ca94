//! Refuses waits for file locks, because the holder may be any process of the real machine.
//! Replaces the holder's real process id.

use super::{Call, Outcome};
use crate::group::{Group, blocked_in};

impl Group {
    pub(super) fn file_lock_call(&mut self, call: &Call) -> Option<Outcome> {
        let mut arguments = call.arguments;
        let operation = arguments[1] as i32;
        let without_wait = match (call.number, operation) {
            (libc::SYS_flock, _) => operation | libc::LOCK_NB,
            (libc::SYS_fcntl, libc::F_GETLK) => return Some(self.holder_of_lock(call)),
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

    fn holder_of_lock(&mut self, call: &Call) -> Outcome {
        let result = self.inject(call.thread, (call.number, call.arguments));
        let at = call.arguments[2] + std::mem::offset_of!(libc::flock, l_pid) as u64;
        let is_locked = |kind: &[u8]| kind != (libc::F_UNLCK as i16).to_le_bytes();
        if result == 0 && is_locked(&call.memory.read(call.arguments[2], 2)) {
            let real = call.memory.read(at, 4).try_into().map(i32::from_le_bytes);
            let number = real.ok().and_then(|real| self.numbers.get(&real)).copied().unwrap_or(0);
            call.memory.write(at, &number.to_le_bytes());
        }
        Outcome::Done(result)
    }
}
