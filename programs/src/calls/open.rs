//! Emulates calls that open files. Replaces many files that would reveal the real machine.

use super::{Call, Outcome, fail_with};
use crate::file::{FileId, Kind};
use crate::group::Group;
use crate::process::Number;
use crate::stand_ins::{PROCESSORS, file_with, stand_in, uuid};
use crate::sys::filter::FIRST_DESCRIPTOR;
use rand_core::Rng;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

/// Prefix of refused paths. JVMs name these files after process ids, and concurrent runs use the
/// same ids.
const SHARED_BY_JVMS: &str = "/tmp/hsperfdata_";

/// Folder for shared memory files. They outlive their processes.
const SHARED_MEMORY: &str = "/dev/shm";

/// File that contains a new UUID for each reader.
const NEW_UUID: &str = "/proc/sys/kernel/random/uuid";

const MEMORY_USED: &str = "Rss: 12000 kB\nPrivate_Dirty: 4000 kB\nAnonHugePages: 0 kB\n";

enum Other {
    Path(String),
    Text(String),
}

impl Group {
    pub(super) fn open_call(&mut self, call: &Call) -> Option<Outcome> {
        let place = match call.number {
            libc::SYS_open => 0,
            libc::SYS_openat => 1,
            libc::SYS_creat => return self.open_call(&as_open(call)),
            _ => return None,
        };
        let path = String::from_utf8_lossy(&call.memory.text(call.arguments[place])).into_owned();
        let folder = if place == 1 { call.arguments[0] as i32 } else { libc::AT_FDCWD };
        let Some(whole) = self.whole_path(call.process, folder, &path) else {
            return Some(Outcome::Native);
        };
        let found = self.resolve_links(call.process, &whole);
        if found == "/dev/urandom" || found == "/dev/random" {
            let native = self.inject(call.thread, (call.number, call.arguments));
            return Some(self.adopt_result(call, native, Kind::Random));
        }
        if found.starts_with(SHARED_BY_JVMS) {
            return Some(fail_with(libc::EACCES));
        }
        if is_of_control_groups(&found) {
            return Some(fail_with(libc::ENOENT));
        }
        let creates = call.arguments[place + 1] as i32 & libc::O_CREAT != 0;
        let is_shared = Path::new(&found).starts_with(SHARED_MEMORY);
        if creates && is_shared && !Path::new(&found).exists() {
            return Some(self.create_shared_file(call));
        }
        if let Some((descriptor, file)) = self.own_descriptor(call.process, &found) {
            let is_kept = call.arguments[place + 1] as i32 & libc::O_CLOEXEC == 0;
            let command = if is_kept { libc::F_DUPFD } else { libc::F_DUPFD_CLOEXEC };
            let least = FIRST_DESCRIPTOR as u64;
            return Some(self.copy_descriptor(call, descriptor, file, command, least));
        }
        Some(match self.other(&found) {
            None if creates_exclusively(call.arguments[place + 1]) => {
                let result = self.inject(call.thread, (call.number, call.arguments));
                if result >= 0 {
                    self.temporary.note_created(&whole);
                }
                Outcome::Done(result)
            }
            None => {
                self.note_opened(whole, call.arguments[place + 1]);
                Outcome::Native
            }
            Some(other) => self.open_other(call, place, other),
        })
    }

    /// Executes the thread's current call and returns `true`, if it is `mkdir` or `mkdirat`.
    pub(crate) fn has_made_folder(&mut self, number: Number) -> bool {
        let thread = self.thread(number);
        let registers = &thread.registers;
        let arguments = [registers.rdi, registers.rsi, registers.rdx, 0, 0, 0];
        let (call, process) = (registers.orig_rax as i64, thread.process);
        let (folder, at) = match call {
            libc::SYS_mkdir => (libc::AT_FDCWD, registers.rdi),
            libc::SYS_mkdirat => (registers.rdi as i32, registers.rsi),
            _ => return false,
        };
        let text = self.process(process).memory.text(at);
        let path = self.whole_path(process, folder, &String::from_utf8_lossy(&text));
        let result = self.inject(number, (call, arguments));
        self.answers(number, result);
        let is_shared = |path: &Path| path.display().to_string().starts_with(SHARED_BY_JVMS);
        if let Some(path) = path.filter(|path| result == 0 && !is_shared(path)) {
            self.temporary.note_created(&path);
        }
        true
    }

    fn own_descriptor(&self, process: Number, found: &str) -> Option<(i32, FileId)> {
        let folder = format!("/proc/{}/fd/", self.process(process).memory.0);
        let descriptor = found.strip_prefix(&folder)?.parse().ok()?;
        self.file(process, descriptor).map(|file| (descriptor, file))
    }

    fn whole_path(&self, process: Number, folder: i32, path: &str) -> Option<PathBuf> {
        let from = match path.starts_with('/') {
            _ if path.is_empty() => None,
            true => Some(PathBuf::new()),
            false if folder == libc::AT_FDCWD => self.link_of(process, "cwd"),
            false => self.link_of(process, &format!("fd/{folder}")),
        };
        from.map(|from| from.join(path))
    }

    fn resolve_links(&self, process: Number, path: &Path) -> String {
        let real = self.process(process).memory.0;
        let plain = without_dots(path);
        let plain = own_descriptor_path(&plain).unwrap_or(plain);
        let of_this = |path: &Path| {
            let rest = path.strip_prefix("/proc/self").or(path.strip_prefix("/proc/thread-self"));
            rest.ok().map(|rest| format!("/proc/{real}/{}", rest.display()))
        };
        if let Some(path) = of_this(&plain) {
            return path;
        }
        if plain.starts_with("/proc") {
            return self.by_real_number(&plain.display().to_string());
        }
        let found = end_of_links(path).unwrap_or(plain).display().to_string();
        // Here `/proc/self` is the tracer, so replace the tracer's process id.
        match found.strip_prefix(&format!("/proc/{}/", std::process::id())) {
            Some(rest) => format!("/proc/{real}/{rest}"),
            None => found,
        }
    }

    fn by_real_number(&self, path: &str) -> String {
        let rest = path.strip_prefix("/proc/").unwrap_or_default();
        let (number, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let Ok(number) = number.parse::<Number>() else { return path.to_owned() };
        let real = self.processes.get(&number).map_or(0, |process| process.real.0);
        format!("/proc/{real}/{rest}")
    }

    fn other(&mut self, found: &str) -> Option<Other> {
        if found == NEW_UUID {
            let mut random = [0; 16];
            self.random.fill_bytes(&mut random);
            return Some(Other::Text(uuid(u128::from_be_bytes(random))));
        }
        if let Some(text) = stand_in(&self.launch, found) {
            return Some(Other::Text(text));
        }
        let rest = found.strip_prefix("/proc/")?;
        let (number, what) = rest.split_once('/').unwrap_or((rest, ""));
        let real: i32 = number.parse().ok()?;
        match what {
            "stat" => self.numbers.get(&real).and_then(|number| self.state_of(*number)),
            "status" => self.numbers.get(&real).and_then(|number| self.status_of(*number)),
            "statm" => Some(Other::Text("20000 3000 1000 500 0 5000 0\n".to_owned())),
            "smaps" | "smaps_rollup" => Some(Other::Text(MEMORY_USED.to_owned())),
            _ => Some(Other::Path(found.to_owned())),
        }
    }

    fn state_of(&self, number: Number) -> Option<Other> {
        let process = self.processes.get(&number)?;
        let name = std::fs::read_to_string(format!("/proc/{}/comm", process.real.0)).ok()?;
        let threads = self.threads.values().filter(|thread| thread.process == number).count();
        let mut fields = vec!["0".to_owned(); 49];
        fields[0] = process.parent.max(1).to_string();
        (fields[1], fields[2]) = (process.process_group.to_string(), process.session.to_string());
        (fields[4], fields[14], fields[16]) = ("-1".into(), "20".into(), threads.to_string());
        let state = if process.ended.is_some() { 'Z' } else { 'R' };
        Some(Other::Text(format!("{number} ({}) {state} {}\n", name.trim_end(), fields.join(" "))))
    }

    /// Replaces the real process ids, and the values that depend on the load of the machine.
    fn status_of(&self, number: Number) -> Option<Other> {
        let process = self.processes.get(&number)?;
        let text = std::fs::read_to_string(format!("/proc/{}/status", process.real.0)).ok()?;
        let of_line = |line: &str| {
            let (name, value) = line.split_once(":\t")?;
            let value = match name {
                "State" if process.ended.is_some() => "Z (zombie)".to_owned(),
                "State" => "R (running)".to_owned(),
                "Tgid" | "Pid" | "NStgid" | "NSpid" => number.to_string(),
                "PPid" => process.parent.max(1).to_string(),
                "NSpgid" => process.process_group.to_string(),
                "NSsid" => process.session.to_string(),
                "TracerPid" | "voluntary_ctxt_switches" | "nonvoluntary_ctxt_switches" => {
                    "0".to_owned()
                }
                "VmHWM" | "VmRSS" => "12000 kB".to_owned(),
                "Cpus_allowed" => format!("{:x}", (1 << PROCESSORS) - 1),
                "Cpus_allowed_list" => format!("0-{}", PROCESSORS - 1),
                "SigQ" | "RssAnon" | "RssFile" | "RssShmem" | "VmPTE" | "VmSwap" => return None,
                _ => value.to_owned(),
            };
            Some(format!("{name}:\t{value}\n"))
        };
        Some(Other::Text(text.lines().filter_map(of_line).collect()))
    }

    fn create_shared_file(&mut self, call: &Call) -> Outcome {
        let result = self.inject(call.thread, (call.number, call.arguments));
        let real = self.process(call.process).memory.0;
        if result >= 0
            && let Ok(file) = std::fs::metadata(format!("/proc/{real}/fd/{result}"))
        {
            self.shared_files.insert((file.dev(), file.ino()));
        }
        Outcome::Done(result)
    }

    /// Finds the files by inode, because a program may have renamed its files or linked to them.
    pub(crate) fn remove_shared_files(&mut self) {
        let own = std::mem::take(&mut self.shared_files);
        if own.is_empty() {
            return;
        }
        for entry in std::fs::read_dir(SHARED_MEMORY).into_iter().flatten().flatten() {
            if entry.metadata().is_ok_and(|file| own.contains(&(file.dev(), file.ino()))) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    fn open_other(&mut self, call: &Call, place: usize, other: Other) -> Outcome {
        let opened = match other {
            Other::Path(path) => Ok((path, None)),
            Other::Text(text) => expose_text(&text),
        };
        let (Some(scratch), Ok((path, file))) = (self.scratch(call.thread), opened) else {
            return fail_with(libc::ENOMEM);
        };
        call.memory.write(scratch, format!("{path}\0").as_bytes());
        let mut arguments = call.arguments;
        arguments[place] = scratch;
        let result = self.inject(call.thread, (call.number, arguments));
        drop(file);
        Outcome::Done(result)
    }
}

fn expose_text(text: &str) -> io::Result<(String, Option<File>)> {
    let file = file_with(text)?;
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    Ok((path, Some(file)))
}

/// Returns the `open` call that has the same effect as a `creat` call.
fn as_open(creat: &Call) -> Call {
    let [path, mode, ..] = creat.arguments;
    let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
    let arguments = [path, flags as u64, mode, 0, 0, 0];
    Call { number: libc::SYS_open, arguments, waited: None, ..*creat }
}

fn creates_exclusively(flags: u64) -> bool {
    let exclusively = libc::O_CREAT | libc::O_EXCL;
    flags as i32 & exclusively == exclusively
}

fn is_of_control_groups(found: &str) -> bool {
    let is_of_process = found.starts_with("/proc/") && found.ends_with("/cgroup");
    is_of_process || found == "/proc/cgroups" || found.starts_with("/sys/fs/cgroup")
}

fn own_descriptor_path(plain: &Path) -> Option<PathBuf> {
    let name = plain.strip_prefix("/dev").ok()?.to_str()?;
    let number = match name {
        "stdin" => "0",
        "stdout" => "1",
        "stderr" => "2",
        _ => name.strip_prefix("fd/")?,
    };
    Some(Path::new("/proc/self/fd").join(number))
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

fn end_of_links(path: &Path) -> Option<PathBuf> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path).ok()?;
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_known_by_whatever_way_it_goes() {
        let of = |path: &str| without_dots(Path::new(path)).display().to_string();
        assert_eq!(of("/dev/../dev/./urandom"), "/dev/urandom");
        assert_eq!(of("//proc//self/../uptime"), "/proc/uptime");
        assert_eq!(of("/../etc/hosts"), "/etc/hosts");
    }
}
