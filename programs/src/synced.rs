//! The files of a folder that survive a power loss, each with its content at its last sync.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Size in bytes of the pieces in which content is stored. Pieces that contain only zeros are
/// omitted.
const PIECE: usize = 4096;

/// Device, inode and creation time of a file. The inode alone may be that of an earlier file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Identity(u64, u64, Option<SystemTime>);

/// The content of each file at its last sync.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SyncedFiles(BTreeMap<Identity, Content>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Content {
    Of(PathBuf),
    Own(Pieces),
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Pieces {
    length: u64,
    pieces: BTreeMap<u64, Box<[u8]>>,
}

impl Pieces {
    fn read(file: &File) -> io::Result<Pieces> {
        let length = file.metadata()?.len();
        let (mut pieces, mut buffer) = (BTreeMap::new(), [0; PIECE]);
        let mut at = next_data(file, 0)?;
        while at < length {
            let end = (at + PIECE as u64).min(length);
            let piece = &mut buffer[..(end - at) as usize];
            file.read_exact_at(piece, at)?;
            if piece.iter().any(|byte| *byte != 0) {
                pieces.insert(at, Box::from(&*piece));
                at = end;
            } else {
                at = next_data(file, end)?;
            }
        }
        Ok(Pieces { length, pieces })
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let file = File::options().write(true).open(path)?;
        file.set_len(0)?;
        file.set_len(self.length)?;
        self.pieces.iter().try_for_each(|(at, piece)| file.write_all_at(piece, *at))
    }
}

fn next_data(file: &File, at: u64) -> io::Result<u64> {
    let end = file.metadata()?.len();
    // If the file system does not support holes, the whole file is data.
    let found = crate::sys::memory::next_data(file, at).unwrap_or(end);
    let piece = PIECE as u64;
    Ok((found / piece * piece).max(at).min(end))
}

pub(crate) struct Sync(Identity, Pieces);

impl Sync {
    pub(crate) fn begin(path: &str) -> Option<Sync> {
        let about = fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some(Sync(identity(&about), Pieces::read(&File::open(path).ok()?).ok()?))
    }
}

impl SyncedFiles {
    pub(crate) fn finish(&mut self, sync: Sync) {
        self.0.insert(sync.0, Content::Own(sync.1));
    }

    /// Adds later syncs. They replace earlier syncs of the same files.
    pub fn extend(&mut self, later: SyncedFiles) {
        self.0.extend(later.0);
    }

    /// Restores all files in a folder. Files that were never synced become empty.
    pub fn restore(&self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let about = fs::symlink_metadata(&path)?;
            if about.is_dir() {
                self.restore(&path)?;
            } else if about.is_file() {
                let held = match self.0.get(&identity(&about)) {
                    None => Pieces::default(),
                    Some(Content::Own(pieces)) => pieces.clone(),
                    Some(Content::Of(other)) => Pieces::read(&File::open(other)?)?,
                };
                if Pieces::read(&File::open(&path)?)? != held {
                    held.write(&path)?;
                }
            }
        }
        Ok(())
    }

    /// Records the present content of the file as synced.
    pub fn sync_one(&mut self, path: &Path) -> io::Result<()> {
        let file = File::open(path)?;
        self.0.insert(identity(&file.metadata()?), Content::Own(Pieces::read(&file)?));
        Ok(())
    }

    /// Returns whether no file was synced.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Copies a folder and records the copies as synced. The original folder must not change any
    /// more.
    pub fn copy_all(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let (source, copy) = (entry.path(), to.join(entry.file_name()));
            if entry.file_type()?.is_dir() {
                fs::create_dir(&copy)?;
                fs::set_permissions(&copy, entry.metadata()?.permissions())?;
                self.copy_all(&source, &copy)?;
            } else {
                fs::copy(&source, &copy)?;
                self.0.insert(identity(&fs::metadata(&copy)?), Content::Of(source));
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

    #[test]
    fn a_large_file_with_little_in_it_is_restored_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let file = File::create(&path).unwrap();
        file.set_len(64 << 20).unwrap();
        file.write_all_at(b"one", 5 << 20).unwrap();
        let mut synced = SyncedFiles::default();
        synced.finish(Sync::begin(path.to_str().unwrap()).unwrap());
        file.write_all_at(b"two", 5 << 20).unwrap();
        file.write_all_at(b"more", 64 << 20).unwrap();
        synced.restore(folder.path()).unwrap();
        let mut held = [0; 4];
        File::open(&path).unwrap().read_exact_at(&mut held, 5 << 20).unwrap();
        assert_eq!((&held, file.metadata().unwrap().len()), (b"one\0", 64 << 20));
    }

    #[test]
    fn a_copied_folder_is_safe_and_goes_back_to_what_was_copied() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(from.path().join("base")).unwrap();
        fs::write(from.path().join("base/table"), "rows").unwrap();
        let mut synced = SyncedFiles::default();
        synced.copy_all(from.path(), to.path()).unwrap();
        fs::write(to.path().join("base/table"), "other rows").unwrap();
        synced.restore(to.path()).unwrap();
        assert_eq!(fs::read_to_string(to.path().join("base/table")).unwrap(), "rows");
    }
}
