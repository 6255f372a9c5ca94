//! Which files a group ran and read: noted where a process becomes another program and where a file
//! is opened, at calls that stop anyway. Nothing that the programs see depends on it.

use super::Group;
use crate::interface::FilesUsed;
use crate::process::Number;
use std::path::PathBuf;

/// How many files that were opened are kept.
const OPENED_MAX: usize = 8_192;

impl Group {
    /// The files that were run and read so far.
    pub fn files_used(&self) -> &FilesUsed {
        &self.used
    }

    /// A process has become what its executable is.
    pub(crate) fn notes_executed(&mut self, process: Number) {
        self.used.executed.extend(self.link_of(process, "exe"));
    }

    /// A file is about to be opened.
    pub(crate) fn notes_opened(&mut self, path: PathBuf, flags: u64) {
        let is_read = flags as i32 & (libc::O_ACCMODE | libc::O_DIRECTORY) == libc::O_RDONLY;
        if is_read && self.used.opened.len() < OPENED_MAX {
            self.used.opened.insert(path);
        }
    }

    /// Where a link of the kernel's own folder of a process leads.
    pub(crate) fn link_of(&self, process: Number, name: &str) -> Option<PathBuf> {
        let real = self.processes.get(&process)?.memory.0;
        std::fs::read_link(format!("/proc/{real}/{name}")).ok()
    }
}
