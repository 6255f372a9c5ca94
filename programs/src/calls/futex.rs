use super::{Call, Outcome, fail_with};
use crate::group::Group;
use crate::process::{Deadline, Interest, Word};
use crate::sys::memory::Memory;

const COMMAND: i32 = !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);

impl Group {
    pub(super) fn futex(&mut self, call: &Call) -> Outcome {
        let [at, operation, value, fourth, second, third] = call.arguments;
        let word = word_of(call, at);
        match operation as i32 & COMMAND {
            libc::FUTEX_WAIT => self.futex_wait(call, u32::MAX),
            libc::FUTEX_WAIT_BITSET => self.futex_wait(call, third as u32),
            libc::FUTEX_WAKE => Outcome::Done(self.wake_futex(word, value as u32, u32::MAX).into()),
            libc::FUTEX_WAKE_BITSET => {
                Outcome::Done(self.wake_futex(word, value as u32, third as u32).into())
            }
            command @ (libc::FUTEX_REQUEUE | libc::FUTEX_CMP_REQUEUE) => {
                let compares = command == libc::FUTEX_CMP_REQUEUE;
                if compares && call.memory.u32(at) != third as u32 {
                    return fail_with(libc::EAGAIN);
                }
                let woken = self.wake_futex(word, value as u32, u32::MAX);
                let moved = self.requeue_futex(word, word_of(call, second), fourth as u32);
                Outcome::Done((woken + if compares { moved } else { 0 }).into())
            }
            libc::FUTEX_WAKE_OP => self.futex_wake_op(call),
            command => {
                Outcome::Refused(format!("made futex operation {command}, which is not emulated"))
            }
        }
    }

    fn futex_wait(&mut self, call: &Call, mask: u32) -> Outcome {
        let [word, operation, value, timeout, ..] = call.arguments;
        if let Some(waited) = call.waited {
            return match waited.on {
                Interest::Futex { is_woken: true, .. } => Outcome::Done(0),
                _ if call.has_expired => fail_with(libc::ETIMEDOUT),
                _ => Outcome::Blocks(waited),
            };
        }
        if mask == 0 {
            return fail_with(libc::EINVAL);
        }
        if call.memory.u32(word) != value as u32 {
            return fail_with(libc::EAGAIN);
        }
        let until = if timeout == 0 {
            None
        } else {
            let Some(ns) = call.timespec_ns(timeout) else { return fail_with(libc::EINVAL) };
            let is_wall = operation as i32 & libc::FUTEX_CLOCK_REALTIME != 0;
            let is_relative = operation as i32 & COMMAND == libc::FUTEX_WAIT;
            Some(if is_relative { call.after(ns) } else { Deadline { is_wall, at_ns: ns } })
        };
        if until.is_some_and(|until| call.now.has_passed(until)) {
            return fail_with(libc::ETIMEDOUT);
        }
        let at = word_of(call, word);
        call.block(Interest::Futex { at, mask, is_woken: false }, until)
    }

    fn futex_wake_op(&mut self, call: &Call) -> Outcome {
        let [word, _, value, most, second, encoded] = call.arguments;
        let encoded = encoded as u32;
        let signed = |bits: u32| ((bits << 20) as i32) >> 20;
        let (operation, comparison) = (encoded >> 28, encoded >> 24 & 15);
        let (mut argument, compared) = (signed(encoded >> 12 & 0xfff), signed(encoded & 0xfff));
        if operation & 8 != 0 {
            argument = 1 << (argument & 31);
        }
        let old = call.memory.u32(second) as i32;
        let new = match operation & 7 {
            0 => argument,
            1 => old.wrapping_add(argument),
            2 => old | argument,
            3 => old & !argument,
            4 => old ^ argument,
            _ => return fail_with(libc::ENOSYS),
        };
        call.memory.write(second, &new.to_le_bytes());
        let holds = match comparison {
            0 => old == compared,
            1 => old != compared,
            2 => old < compared,
            3 => old <= compared,
            4 => old > compared,
            5 => old >= compared,
            _ => return fail_with(libc::ENOSYS),
        };
        let mut woken = self.wake_futex(word_of(call, word), value as u32, u32::MAX);
        if holds {
            woken += self.wake_futex(word_of(call, second), most as u32, u32::MAX);
        }
        Outcome::Done(woken.into())
    }
}

fn word_of(call: &Call, at: u64) -> Word {
    let is_private = call.arguments[1] as i32 & libc::FUTEX_PRIVATE_FLAG != 0;
    let shared = if is_private { None } else { shared_word(call.memory, at) };
    shared.unwrap_or(Word::Own { process: call.process, at })
}

fn shared_word(memory: Memory, at: u64) -> Option<Word> {
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", memory.0)).ok()?;
    let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
    maps.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let (first, end) = words.next()?.split_once('-')?;
        let (first, end) = (hexadecimal(first)?, hexadecimal(end)?);
        if !words.next()?.ends_with('s') || !(first..end).contains(&at) {
            return None;
        }
        let offset = hexadecimal(words.next()?)?;
        let (major, minor) = words.next()?.split_once(':')?;
        let device = hexadecimal(major)? << 32 | hexadecimal(minor)?;
        let file = words.next()?.parse().ok()?;
        Some(Word::Shared { device, file, at: offset + (at - first) })
    })
}
