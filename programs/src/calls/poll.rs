use super::{Call, Outcome, fail_with};
use crate::group::Group;
use crate::process::{Interest, Number};
use crate::ready::{ERR, HUP, IN, OUT};

const INVALID: u32 = libc::POLLNVAL as u32;
const PRIORITY: u32 = libc::POLLPRI as u32;
const IN_SYNONYM: u32 = libc::POLLRDNORM as u32;
const OUT_SYNONYM: u32 = libc::POLLWRNORM as u32;
const DESCRIPTORS_MAX: u64 = 4096;

pub(super) fn with_synonyms(mask: u32) -> u32 {
    mask | (if mask & IN != 0 { IN_SYNONYM } else { 0 })
        | if mask & OUT != 0 { OUT_SYNONYM } else { 0 }
}

impl Group {
    fn descriptor_readiness(&self, call: &Call, process: Number, descriptor: i32) -> u32 {
        if let Some(file) = self.file(process, descriptor) {
            return self.readiness_for(call, file);
        }
        let real = self.process(process).memory.0;
        let is_open = std::fs::symlink_metadata(format!("/proc/{real}/fd/{descriptor}")).is_ok();
        if is_open { IN | OUT } else { INVALID }
    }

    pub(super) fn poll(&mut self, call: &Call) -> Outcome {
        let [at, count, timeout, ..] = call.arguments;
        if count > DESCRIPTORS_MAX {
            return fail_with(libc::EINVAL);
        }
        let entries = call.memory.read(at, 8 * count as usize);
        if entries.len() < 8 * count as usize {
            return fail_with(libc::EFAULT);
        }
        let mut ready = 0;
        for (index, entry) in entries.chunks_exact(8).enumerate() {
            let descriptor = i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
            let events = u32::from(u16::from_le_bytes([entry[4], entry[5]]));
            let mask = if descriptor < 0 {
                0
            } else {
                let mask = self.descriptor_readiness(call, call.process, descriptor);
                with_synonyms(mask) & (events | ERR | HUP | INVALID)
            };
            ready += i64::from(mask != 0);
            call.memory.write(at + 8 * index as u64 + 6, &(mask as u16).to_le_bytes());
        }
        let after = if call.number == libc::SYS_poll {
            u64::try_from(timeout as i32).ok().map(|ms| ms * 1_000_000)
        } else if timeout != 0 {
            Some(call.timespec_ns(timeout).unwrap_or(0))
        } else {
            None
        };
        if ready > 0 || call.has_expired || after == Some(0) {
            return Outcome::Done(ready);
        }
        call.block(Interest::Files, call.deadline(after))
    }

    pub(super) fn select(&mut self, call: &Call) -> Outcome {
        let [count, read, write, except, timeout, ..] = call.arguments;
        if (count as i32) < 0 {
            return fail_with(libc::EINVAL);
        }
        let count = (count as u32 as usize).min(1024);
        let length = count.div_ceil(64) * 8;
        let wanted = [read, write, except]
            .map(|at| if at == 0 { vec![0; length] } else { call.memory.read(at, length) });
        if wanted.iter().any(|set| set.len() < length) {
            return fail_with(libc::EFAULT);
        }
        let mut found = [vec![0u8; length], vec![0u8; length], vec![0u8; length]];
        let masks = [IN | HUP | ERR, OUT | ERR, PRIORITY];
        let mut ready = 0;
        for descriptor in 0..count {
            let (byte, bit) = (descriptor / 8, 1u8 << (descriptor % 8));
            if !wanted.iter().any(|set| set[byte] & bit != 0) {
                continue;
            }
            let mask = self.descriptor_readiness(call, call.process, descriptor as i32);
            if mask & INVALID != 0 {
                return fail_with(libc::EBADF);
            }
            for ((wanted, found), interest) in wanted.iter().zip(&mut found).zip(masks) {
                if wanted[byte] & bit != 0 && mask & interest != 0 {
                    found[byte] |= bit;
                    ready += 1;
                }
            }
        }
        let after = (timeout != 0).then(|| self.select_span(call, timeout));
        if ready == 0 && !call.has_expired && after != Some(0) {
            return call.block(Interest::Files, call.deadline(after));
        }
        for (at, found) in [read, write, except].into_iter().zip(&found) {
            if at != 0 {
                call.memory.write(at, found);
            }
        }
        Outcome::Done(ready)
    }

    fn select_span(&self, call: &Call, at: u64) -> u64 {
        if call.number == libc::SYS_select {
            return call.timeval_ns(at);
        }
        call.timespec_ns(at).unwrap_or(0)
    }
}
