//! Removes the temporary files that a group leaves behind. Two runs of a seed draw the same names
//! for them, so a folder left by the first run could change the second.

use std::fs::{remove_dir_all, remove_file, symlink_metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const CREATED_MAX: usize = 8_192;

pub(crate) struct TemporaryFiles {
    folders: Vec<PathBuf>,
    created: Vec<(PathBuf, Identity)>,
}

/// Distinguishes a file from a later file with the same path, such as a file of another group.
#[derive(PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    born: Option<SystemTime>,
    is_folder: bool,
}

impl Identity {
    fn of(path: &Path) -> Option<Identity> {
        let found = symlink_metadata(path).ok()?;
        let (device, inode, born) = (found.dev(), found.ino(), found.created().ok());
        Some(Identity { device, inode, born, is_folder: found.is_dir() })
    }
}

impl TemporaryFiles {
    pub(crate) fn within(folders: &[PathBuf]) -> TemporaryFiles {
        TemporaryFiles { folders: folders.to_owned(), created: Vec::new() }
    }

    pub(crate) fn note_created(&mut self, path: &Path) {
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        let (Some(folder), Some(name)) = (folder, path.file_name()) else { return };
        let path = folder.join(name);
        if self.folders.contains(&folder)
            && self.created.len() < CREATED_MAX
            && let Some(identity) = Identity::of(&path)
        {
            self.created.push((path, identity));
        }
    }

    pub(crate) fn remove(&mut self) {
        for (path, identity) in self.created.drain(..) {
            if Identity::of(&path).as_ref() == Some(&identity) {
                let _ = if identity.is_folder { remove_dir_all(&path) } else { remove_file(&path) };
            }
        }
    }
}
