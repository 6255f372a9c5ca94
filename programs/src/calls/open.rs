//! Opening files: most are the kernel's; those that tell the time, the machine or chance are not.

use super::{Call, Outcome, fails};
use crate::file::Kind;
use crate::group::Group;
use crate::stand_ins::STAND_INS;

/// Where a JVM puts a file by its number, and looks for those of others that are gone: JVMs of two
/// runs at once have the same numbers. Without it, a JVM keeps to itself what it would write there.
const SHARED_BY_JVMS: &str = "/tmp/hsperfdata_";

impl Group {
    pub(super) fn open_call(&mut self, call: &Call) -> Option<Outcome> {
        let place = match call.number {
            libc::SYS_open => 0,
            libc::SYS_openat => 1,
            libc::SYS_creat => return Some(Outcome::Native),
            _ => return None,
        };
        let path = String::from_utf8_lossy(&call.memory.text(call.arguments[place])).into_owned();
        if path == "/dev/urandom" || path == "/dev/random" {
            let native = self.inject(call.thread, (call.number, call.arguments));
            return Some(self.adopts(call, native, Kind::Random, false));
        }
        if path.starts_with(SHARED_BY_JVMS) {
            return Some(fails(libc::EACCES));
        }
        let other = self.other_path(&path);
        Some(match other {
            None => {
                let folder = if place == 1 { call.arguments[0] as i32 } else { libc::AT_FDCWD };
                self.notes_opened(call.process, folder, &path, call.arguments[place + 1]);
                Outcome::Native
            }
            Some(other) => self.open_other(call, place, &other),
        })
    }

    /// The file that stands in for another, if one does.
    fn other_path(&self, path: &str) -> Option<String> {
        if let Some((_, name)) = STAND_INS.iter().find(|(known, _)| *known == path) {
            return Some(self.stand_ins.path().join(name).display().to_string());
        }
        // The numbers of processes are ours.
        let rest = path.strip_prefix("/proc/")?;
        let (number, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let number: u32 = number.parse().ok()?;
        let real = self.processes.get(&number).map_or(0, |process| process.real.0);
        Some(format!("/proc/{real}/{rest}"))
    }

    fn open_other(&mut self, call: &Call, place: usize, path: &str) -> Outcome {
        let Some(scratch) = self.scratch(call.thread) else { return fails(libc::ENOMEM) };
        let mut bytes = path.as_bytes().to_vec();
        bytes.push(0);
        call.memory.write(scratch, &bytes);
        let mut arguments = call.arguments;
        arguments[place] = scratch;
        Outcome::Done(self.inject(call.thread, (call.number, arguments)))
    }
}
