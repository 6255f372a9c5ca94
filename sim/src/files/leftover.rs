//! Removes temporary files that killed processes left. A live process keeps its file locked.

use rustix::fs::{FlockOperation, flock};
use std::fs::{DirEntry, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

pub(crate) const TEMPORARY: &str = ".tmp-fencepost-";

pub(crate) fn claim(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        // Another process found the file unlocked, and is about to remove it.
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        // On a file system without locks, `clear` removes nothing.
        Err(_) => Ok(true),
        Ok(()) => Ok(file.metadata()?.nlink() > 0),
    }
}

pub(crate) fn wait_for(file: &File) {
    let _ = flock(file, FlockOperation::LockExclusive);
}

pub(crate) fn clear(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(is_temporary) {
        let Ok(file) = File::open(entry.path()) else { continue };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn is_temporary(entry: &DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with(TEMPORARY)
        && entry.file_type().is_ok_and(|kind| kind.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_writes_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in [".tmp-fencepost-dead", ".tmpother", "report.json"] {
            std::fs::write(at(name), "{").unwrap();
        }
        std::fs::create_dir(at(".tmp-fencepost-folder")).unwrap();
        let written = File::create(at(".tmp-fencepost-alive")).unwrap();
        assert!(claim(&written).unwrap());
        clear(folder.path());
        let left = |name: &str| at(name).exists();
        assert!(!left(".tmp-fencepost-dead"));
        assert!(left(".tmp-fencepost-alive") && left(".tmp-fencepost-folder"));
        assert!(left(".tmpother") && left("report.json"), "they are not ours");
        drop(written);
        clear(folder.path());
        assert!(!left(".tmp-fencepost-alive"), "its writer is gone");
    }

    #[test]
    fn a_file_that_was_removed_before_it_was_locked_is_not_claimed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        let file = File::create(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(!claim(&file).unwrap());
    }
}
