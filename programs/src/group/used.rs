use super::Group;
use crate::interface::FilesUsed;
use crate::process::Number;
use std::path::PathBuf;

const OPENED_MAX: usize = 8_192;

impl Group {
    pub fn files_used(&self) -> &FilesUsed {
        &self.used
    }

    pub(crate) fn note_executed(&mut self, process: Number) {
        self.used.executed.extend(self.link_of(process, "exe"));
    }

    pub(crate) fn note_opened(&mut self, path: PathBuf, flags: u64) {
        let is_read = flags as i32 & (libc::O_ACCMODE | libc::O_DIRECTORY) == libc::O_RDONLY;
        if is_read && self.used.opened.len() < OPENED_MAX {
            self.used.opened.insert(path);
        }
    }

    pub(crate) fn link_of(&self, process: Number, name: &str) -> Option<PathBuf> {
        let real = self.processes.get(&process)?.memory.0;
        std::fs::read_link(format!("/proc/{real}/{name}")).ok()
    }
}
