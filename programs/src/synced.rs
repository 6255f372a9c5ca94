//! The contents of a folder's files at their last syncs, to restore after a power loss.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Size in bytes of a stored piece. Pieces that are all zeros are omitted.
const PIECE: usize = 4096;

/// Device, inode and creation time. A new file may reuse an inode.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Identity(u64, u64, Option<SystemTime>);

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

/// Byte range that contains all differences from the content at the last sync.
type Unsynced = Range<u64>;

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

    fn piece(&self, at: u64) -> [u8; PIECE] {
        let mut whole = [0; PIECE];
        if let Some(piece) = self.pieces.get(&at) {
            whole[..piece.len()].copy_from_slice(piece);
        }
        whole
    }

    fn places(&self, other: &Pieces) -> BTreeSet<u64> {
        self.pieces.keys().chain(other.pieces.keys()).copied().collect()
    }

    fn unsynced(&self, synced: &Pieces) -> Unsynced {
        let (mut first, mut end) = (u64::MAX, 0);
        for at in self.places(synced) {
            let (now, then) = (self.piece(at), synced.piece(at));
            let differ = |place: &usize| now[*place] != then[*place];
            if let Some(place) = (0..PIECE).find(differ) {
                first = first.min(at + place as u64);
                end = (0..PIECE).rev().find(differ).map_or(end, |last| at + last as u64 + 1);
            }
        }
        if self.length != synced.length {
            first = first.min(self.length.min(synced.length));
            end = end.max(self.length.max(synced.length));
        }
        first.min(end)..end
    }

    fn torn(&self, synced: &Pieces, cut: u64) -> Pieces {
        let cut = cut.min(self.length);
        let mut torn = Pieces { length: synced.length.max(cut), pieces: BTreeMap::new() };
        for at in self.places(synced).into_iter().filter(|at| *at < torn.length) {
            let written = cut.saturating_sub(at).min(PIECE as u64) as usize;
            let mut piece = synced.piece(at);
            piece[..written].copy_from_slice(&self.piece(at)[..written]);
            let length = (torn.length - at).min(PIECE as u64) as usize;
            if piece[..length].iter().any(|byte| *byte != 0) {
                torn.pieces.insert(at, Box::from(&piece[..length]));
            }
        }
        torn
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
    // The call fails if no data follows.
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

    pub fn extend(&mut self, later: SyncedFiles) {
        self.0.extend(later.0);
    }

    /// Restores a folder's files to their last syncs; files without a sync become empty. `kept`
    /// takes the length of an unsynced range, and returns how many of its first bytes survive.
    pub fn restore(&self, folder: &Path, kept: &mut dyn FnMut(u64) -> u64) -> io::Result<()> {
        let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
        let mut paths: Vec<PathBuf> = entries.collect::<io::Result<_>>()?;
        paths.sort_unstable();
        for path in paths {
            let about = fs::symlink_metadata(&path)?;
            if about.is_dir() {
                self.restore(&path, kept)?;
            } else if about.is_file() {
                let held = match self.0.get(&identity(&about)) {
                    None => Pieces::default(),
                    Some(Content::Own(pieces)) => pieces.clone(),
                    Some(Content::Of(other)) => Pieces::read(&File::open(other)?)?,
                };
                let written = Pieces::read(&File::open(&path)?)?;
                if written == held {
                    continue;
                }
                let unsynced = written.unsynced(&held);
                let length = unsynced.end - unsynced.start;
                match kept(length).min(length) {
                    0 => held.write(&path)?,
                    all if all == length => {}
                    some => written.torn(&held, unsynced.start + some).write(&path)?,
                }
            }
        }
        Ok(())
    }

    pub fn sync_one(&mut self, path: &Path) -> io::Result<()> {
        let file = File::open(path)?;
        self.0.insert(identity(&file.metadata()?), Content::Own(Pieces::read(&file)?));
        Ok(())
    }

    /// Records a folder's files as synced, except those that [`SyncedFiles::copy_all`] copied.
    pub fn sync_all(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let about = fs::symlink_metadata(&path)?;
            let is_copy = matches!(self.0.get(&identity(&about)), Some(Content::Of(_)));
            if about.is_dir() {
                self.sync_all(&path)?;
            } else if about.is_file() && !is_copy {
                self.sync_one(&path)?;
            }
        }
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Copies a folder and records the copies as synced. The originals must not change afterwards.
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
    use std::io::Write;

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
        synced.restore(folder.path(), &mut |_| 0).unwrap();
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
            synced.restore(folder.path(), &mut |_| 0).unwrap();
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
        synced.restore(folder.path(), &mut |_| 0).unwrap();
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
        synced.restore(to.path(), &mut |_| 0).unwrap();
        assert_eq!(fs::read_to_string(to.path().join("base/table")).unwrap(), "rows");
    }

    #[test]
    fn all_files_of_a_folder_are_synced_except_for_copies() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(from.path().join("copied"), "rows").unwrap();
        let mut synced = SyncedFiles::default();
        synced.copy_all(from.path(), to.path()).unwrap();
        let path = |name: &str| to.path().join(name);
        fs::create_dir(path("data")).unwrap();
        fs::write(path("data/snapshot"), "first").unwrap();
        fs::write(path("copied"), "other rows").unwrap();
        synced.sync_all(to.path()).unwrap();
        fs::write(path("data/snapshot"), "second").unwrap();
        synced.restore(to.path(), &mut |_| 0).unwrap();
        assert_eq!(fs::read_to_string(path("data/snapshot")).unwrap(), "first");
        assert_eq!(fs::read_to_string(path("copied")).unwrap(), "rows");
    }

    fn torn(synced: &[u8], written: &[u8], kept: u64) -> (u64, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, synced).unwrap();
        let mut files = SyncedFiles::default();
        files.sync_one(&path).unwrap();
        File::options().write(true).truncate(true).open(&path).unwrap().write_all(written).unwrap();
        let mut asked = 0;
        let mut keep = |unsynced| {
            asked = unsynced;
            kept
        };
        files.restore(folder.path(), &mut keep).unwrap();
        (asked, fs::read(&path).unwrap())
    }

    #[test]
    fn a_prefix_of_what_was_appended_survives() {
        for (kept, left) in
            [(0, "synced"), (1, "synced "), (5, "synced and "), (7, "synced and mo")]
        {
            assert_eq!(torn(b"synced", b"synced and mo", kept), (7, left.into()));
        }
        let long = [b'x'; 3 * PIECE];
        let (unsynced, left) = torn(&long[..PIECE + 9], &long, PIECE as u64);
        assert_eq!((unsynced, left.len()), (2 * PIECE as u64 - 9, 2 * PIECE + 9));
        assert!(left.iter().all(|byte| *byte == b'x'));
    }

    #[test]
    fn a_prefix_of_what_was_overwritten_survives() {
        assert_eq!(torn(b"aaaaaaaa", b"aabbbbaa", 3), (4, b"aabbbaaa".to_vec()));
        assert_eq!(torn(b"aaaaaaaa", b"aabb", 3), (6, b"aabbaaaa".to_vec()));
        assert_eq!(torn(b"aaaaaaaa", b"aabb", 6), (6, b"aabb".to_vec()));
        assert_eq!(torn(b"same", b"same", 1), (0, b"same".to_vec()), "nothing is asked");
    }
}
