//! The content of a folder after a power loss: each file as it was at its last sync.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

/// Identifies a file, even against a later one with the same inode.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Identity(u64, u64, Option<SystemTime>);

/// The content of files at their last sync.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SyncedFiles(BTreeMap<Identity, Vec<u8>>);

/// The content that a sync in progress makes safe.
pub(crate) struct Sync(Identity, Vec<u8>);

impl Sync {
    /// Begins to sync the file at this path. `None` if it is no regular file.
    pub(crate) fn begin(path: &str) -> Option<Sync> {
        let about = fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some(Sync(identity(&about), fs::read(path).ok()?))
    }
}

impl SyncedFiles {
    pub(crate) fn finish(&mut self, sync: Sync) {
        self.0.insert(sync.0, sync.1);
    }

    /// Adds later syncs.
    pub fn extend(&mut self, later: SyncedFiles) {
        self.0.extend(later.0);
    }

    /// Restores every file in a folder to its last sync, recursively; a file that was never synced
    /// becomes empty. Names are durable immediately: a created, renamed or deleted file stays so.
    pub fn restore(&self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let about = fs::symlink_metadata(&path)?;
            if about.is_dir() {
                self.restore(&path)?;
            } else if about.is_file() {
                let held = self.0.get(&identity(&about)).map_or(&[][..], Vec::as_slice);
                // Written in place, to keep the inode.
                if fs::read(&path)? != held {
                    fs::write(&path, held)?;
                }
            }
        }
        Ok(())
    }

    /// Records that every file in a folder is safe as it is, recursively.
    pub fn sync_all(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let about = File::open(&path)?.metadata()?;
            if about.is_dir() {
                self.sync_all(&path)?;
            } else {
                self.0.insert(identity(&about), fs::read(&path)?);
            }
        }
        Ok(())
    }
}

fn identity(about: &Metadata) -> Identity {
    Identity(about.dev(), about.ino(), about.created().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_goes_back_to_its_last_sync_whatever_its_name_is_then() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("log"), "one").unwrap();
        let mut synced = SyncedFiles::default();
        synced.finish(Sync::begin(path("log").to_str().unwrap()).unwrap());
        fs::write(path("log"), "one two").unwrap();
        fs::write(path("new"), "never synced").unwrap();
        fs::rename(path("log"), path("renamed")).unwrap();
        synced.restore(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(path("renamed")).unwrap(), "one");
        assert_eq!(fs::read_to_string(path("new")).unwrap(), "");
    }

    #[test]
    fn a_file_that_takes_over_an_inode_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut synced = SyncedFiles::default();
        for turn in 0..20 {
            fs::write(&path, format!("{turn}")).unwrap();
            synced.restore(folder.path()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "", "turn {turn}");
            synced.finish(Sync::begin(path.to_str().unwrap()).unwrap());
            fs::remove_file(&path).unwrap();
        }
    }
}
