//! Emulates calls on descriptors. Each descriptor of an emulated file also exists in the kernel.

use super::interfaces::QUESTIONS;
use super::{Call, Outcome, fail_with};
use crate::file::{FileId, Kind, Stage};
use crate::group::Group;
use crate::process::Number;
use crate::sys::filter::FIRST_DESCRIPTOR;

/// The value in `asm-generic/ioctls.h`. The type of libc's constant depends on the C library.
const FIONREAD: u64 = 0x541b;

impl Group {
    pub(super) fn descriptor_call(&mut self, call: &Call) -> Option<Outcome> {
        let [a, b, c, ..] = call.arguments;
        Some(match call.number {
            libc::SYS_close => self.close(call),
            libc::SYS_dup => self.duplicate(call, libc::F_DUPFD),
            libc::SYS_dup2 | libc::SYS_dup3 => self.duplicate_to(call, b as i32),
            libc::SYS_fcntl if matches!(b as i32, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) => {
                self.duplicate(call, b as i32)
            }
            libc::SYS_fcntl => Outcome::Native,
            libc::SYS_ioctl => self.ioctl(call, b, c),
            libc::SYS_close_range => self.close_range(call, (a as i32, b), c),
            libc::SYS_pipe | libc::SYS_pipe2 => self.pipe(call, a),
            libc::SYS_eventfd | libc::SYS_eventfd2 => self.event(call, a, b),
            libc::SYS_signalfd | libc::SYS_signalfd4 => self.signal_descriptor(call, b),
            libc::SYS_epoll_create | libc::SYS_epoll_create1 => self.epoll_create(call),
            libc::SYS_fsync | libc::SYS_fdatasync => self.sync(call),
            libc::SYS_sendfile => self.run_natively_unless_emulated([a, b]),
            libc::SYS_splice => self.run_natively_unless_emulated([a, c]),
            libc::SYS_tee | libc::SYS_vmsplice => fail_with(libc::EINVAL),
            _ => return None,
        })
    }

    /// Fails if a descriptor may be emulated, so that the program falls back to other calls.
    fn run_natively_unless_emulated(&self, descriptors: [u64; 2]) -> Outcome {
        let is_ours = |one: &u64| (*one as i32) < 3 || (*one as i32) >= FIRST_DESCRIPTOR;
        if descriptors.iter().any(is_ours) { fail_with(libc::EINVAL) } else { Outcome::Native }
    }

    pub(super) fn adopt_result(&mut self, call: &Call, native: i64, kind: Kind) -> Outcome {
        if native < 0 {
            return Outcome::Done(native);
        }
        Outcome::Done(self.adopt(call, native, kind))
    }

    fn adopt(&mut self, call: &Call, native: i64, kind: Kind) -> i64 {
        let moved = self.move_descriptor(call, native);
        if moved >= 0 {
            let file = self.files.open(kind);
            self.process_mut(call.process).descriptors.insert(moved as i32, file);
        }
        moved
    }

    pub(super) fn adopt_opened(&mut self, call: &Call, native: i64, file: FileId) -> Outcome {
        if native < 0 {
            return Outcome::Done(native);
        }
        let moved = self.move_descriptor(call, native);
        if moved >= 0 {
            self.process_mut(call.process).descriptors.insert(moved as i32, file);
        }
        Outcome::Done(moved)
    }

    fn move_descriptor(&mut self, call: &Call, native: i64) -> i64 {
        let native = native as u64;
        let flags =
            self.inject(call.thread, (libc::SYS_fcntl, [native, libc::F_GETFD as u64, 0, 0, 0, 0]));
        let command = if flags & i64::from(libc::FD_CLOEXEC) != 0 {
            libc::F_DUPFD_CLOEXEC
        } else {
            libc::F_DUPFD
        };
        let arguments = [native, command as u64, FIRST_DESCRIPTOR as u64, 0, 0, 0];
        let moved = self.inject(call.thread, (libc::SYS_fcntl, arguments));
        self.inject(call.thread, (libc::SYS_close, [native, 0, 0, 0, 0, 0]));
        moved
    }

    pub(super) fn adopt_pair(&mut self, call: &Call, at: u64, kinds: [Kind; 2]) -> Outcome {
        for (kind, at) in kinds.into_iter().zip([at, at + 4]) {
            let native = i64::from(call.memory.u32(at));
            let moved = self.adopt(call, native, kind);
            if moved < 0 {
                return Outcome::Done(moved);
            }
            call.memory.write(at, &(moved as i32).to_le_bytes());
        }
        Outcome::Done(0)
    }

    fn pipe(&mut self, call: &Call, at: u64) -> Outcome {
        let result = self.inject(call.thread, (call.number, call.arguments));
        if result < 0 {
            return Outcome::Done(result);
        }
        let pipe = self.files.pipe();
        let kinds = [Kind::PipeRead(pipe), Kind::PipeWrite(pipe)];
        self.adopt_pair(call, at, kinds)
    }

    fn event(&mut self, call: &Call, count: u64, flags: u64) -> Outcome {
        let flags = if call.number == libc::SYS_eventfd2 { flags as i32 } else { 0 };
        let native = self.inject(call.thread, (call.number, call.arguments));
        let count = u64::from(count as u32);
        let kind = Kind::Event { count, is_semaphore: flags & libc::EFD_SEMAPHORE != 0 };
        self.adopt_result(call, native, kind)
    }

    pub(crate) fn forget_descriptor(&mut self, process: Number, descriptor: i32) {
        if let Some(file) = self.process_mut(process).descriptors.remove(&descriptor) {
            self.files.release(file);
        }
    }

    fn close(&mut self, call: &Call) -> Outcome {
        self.forget_descriptor(call.process, call.descriptor());
        Outcome::Native
    }

    fn close_range(&mut self, call: &Call, (first, last): (i32, u64), flags: u64) -> Outcome {
        if flags & u64::from(libc::CLOSE_RANGE_CLOEXEC) == 0 {
            let last = i32::try_from(last as u32).unwrap_or(i32::MAX);
            let all = self.process(call.process).descriptors.range(first..=last.max(first));
            let all: Vec<i32> = all.map(|(descriptor, _)| *descriptor).collect();
            all.into_iter().for_each(|one| self.forget_descriptor(call.process, one));
        }
        Outcome::Native
    }

    fn duplicate(&mut self, call: &Call, command: i32) -> Outcome {
        let Some(file) = self.file_of(call) else { return Outcome::Native };
        let least = match call.number {
            libc::SYS_fcntl => call.arguments[2].max(FIRST_DESCRIPTOR as u64),
            _ => FIRST_DESCRIPTOR as u64,
        };
        self.copy_descriptor(call, call.descriptor(), file, command, least)
    }

    pub(super) fn copy_descriptor(
        &mut self,
        call: &Call,
        descriptor: i32,
        file: FileId,
        command: i32,
        least: u64,
    ) -> Outcome {
        let arguments = [descriptor as u64, command as u64, least, 0, 0, 0];
        let copy = self.inject(call.thread, (libc::SYS_fcntl, arguments));
        if copy >= 0 {
            self.files.retain(file);
            self.process_mut(call.process).descriptors.insert(copy as i32, file);
        }
        Outcome::Done(copy)
    }

    fn duplicate_to(&mut self, call: &Call, target: i32) -> Outcome {
        let file = self.file_of(call);
        if call.descriptor() == target {
            return Outcome::Native;
        }
        if file.is_some() && (3..FIRST_DESCRIPTOR).contains(&target) {
            return Outcome::Refused(format!(
                "duplicated a socket or pipe to descriptor {target}; only 0, 1, 2 and those from \
                 {FIRST_DESCRIPTOR} on are emulated"
            ));
        }
        let result = self.inject(call.thread, (call.number, call.arguments));
        if result >= 0 {
            if let Some(file) = file {
                self.files.retain(file);
            }
            self.forget_descriptor(call.process, target);
            if let Some(file) = file {
                self.process_mut(call.process).descriptors.insert(target, file);
            }
            self.files.has_changed = true;
        }
        Outcome::Done(result)
    }

    pub(super) fn is_nonblocking(&self, call: &Call) -> bool {
        let path = format!("/proc/{}/fdinfo/{}", call.memory.0, call.descriptor());
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok());
        flags.is_some_and(|flags| flags & libc::O_NONBLOCK != 0)
    }

    fn ioctl(&mut self, call: &Call, command: u64, at: u64) -> Outcome {
        let Some(file) = self.file_of(call) else { return Outcome::Native };
        match command {
            question if QUESTIONS.contains(&question) => match self.files.get(file).kind {
                Kind::Socket(_) | Kind::Datagrams(_) => self.query_interface(call, question, at),
                _ => Outcome::Native,
            },
            FIONREAD => {
                let waiting = match &self.files.get(file).kind {
                    Kind::PipeRead(pipe) | Kind::Pair { read: pipe, .. } => {
                        self.files.pipes[*pipe].bytes.len()
                    }
                    Kind::Socket(socket) => match socket.stage {
                        Stage::Local { read, .. } => self.files.pipes[read].bytes.len(),
                        _ => socket.received.len(),
                    },
                    _ => return Outcome::Native,
                };
                call.memory.write(at, &(waiting as u32).to_le_bytes());
                Outcome::Done(0)
            }
            _ => Outcome::Native,
        }
    }
}
