//! Locks a folder, so that two servers cannot write the same files (on Unix).

use super::failed;
use crate::ServeError;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;

#[derive(Debug)]
pub(super) struct FolderLock(#[expect(dead_code, reason = "the lock ends with it")] File);

impl FolderLock {
    pub(super) fn take(folder: &Path) -> Result<FolderLock, ServeError> {
        let path = folder.join("lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).map_err(|error| failed(&path, error))?;
        if is_locked_elsewhere(&file) {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            let holder = holder.trim().to_owned();
            return Err(ServeError::InUse { folder: folder.to_owned(), holder });
        }
        let note = format!("{}\n", std::process::id());
        let noted = file.set_len(0).and_then(|()| file.write_all(note.as_bytes()));
        noted.and_then(|()| file.sync_all()).map_err(|error| failed(&path, error))?;
        Ok(FolderLock(file))
    }
}

#[cfg(unix)]
fn is_locked_elsewhere(file: &File) -> bool {
    use rustix::fs::{FlockOperation, flock};
    flock(file, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::WOULDBLOCK)
}

#[cfg(not(unix))]
fn is_locked_elsewhere(_: &File) -> bool {
    false
}
