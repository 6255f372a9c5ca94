//! Files that are whole or not there.

mod leftover;
mod place;

use leftover::{TEMPORARY, claim, clear};
use place::Place;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}", path = .path.display())]
pub struct FileError {
    /// Which file.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

/// Writes a file whole or not at all. The file behind a symbolic link is written, and what is no
/// file, as a device or a pipe, is written to and stays what it is.
pub(crate) fn write_file(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let written = place::find(path).and_then(|place| match place {
        Place::File(path) => replace(&path, content),
        Place::Stream(path) => place::write_through(&path, content),
    });
    written.map_err(|error| FileError { path: path.to_owned(), error })
}

/// Writes a file beside its place, sees to it that it is on the disk, then renames it; the folder
/// is synced too, so that a loss of power does not undo the rename. What an earlier process left
/// half-written in the folder is removed.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder =
        path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    clear(folder);
    let mut file = temporary(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// A new file that no other process takes for a leftover.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    // As any file: the umask takes away from it.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    loop {
        let file = builder.tempfile_in(folder)?;
        if claim(file.as_file())? {
            return Ok(file);
        }
    }
}

/// Some file systems cannot sync a folder; then nothing better can be had.
fn sync_folder(folder: &Path) -> io::Result<()> {
    match std::fs::File::open(folder)?.sync_all() {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
        {
            Ok(())
        }
        other => other,
    }
}
