//! Writes files atomically, and locks folders.

#[cfg_attr(not(unix), path = "files/no_leftover.rs")]
mod leftover;
mod place;

use leftover::{TEMPORARY, claim, clear, wait_for};
use place::Place;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}", path = .path.display())]
pub struct FileError {
    pub path: PathBuf,
    pub error: io::Error,
}

/// Replaces a file atomically. Writes directly to a device or a pipe. Follows symbolic links.
pub(crate) fn write_file(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let written = place::find(path).and_then(|place| match place {
        Place::File(path) => replace(&path, content),
        Place::Stream(path) => place::write_through(&path, content),
    });
    written.map_err(|error| FileError { path: path.to_owned(), error })
}

/// Fails if [`write_file`] cannot write to `path` now. Creates the folder of `path`.
pub(crate) fn check_writable(path: &Path) -> Result<(), FileError> {
    let checked = place::find(path).and_then(|place| match place {
        Place::File(path) => check_folder(folder_of(&path)),
        Place::Stream(_) => Ok(()),
    });
    checked.map_err(|error| FileError { path: path.to_owned(), error })
}

/// Creates `folder`. Fails if no file can be created in it.
pub(crate) fn check_folder(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    temporary(folder).map(drop)
}

/// Creates the folder of `path`, and waits for a lock on it. On Windows, returns `None` (no lock).
pub(crate) fn lock_folder(path: &Path) -> Result<Option<File>, FileError> {
    let folder = folder_of(path);
    let open = |()| cfg!(unix).then(|| File::open(folder)).transpose();
    let locked = std::fs::create_dir_all(folder).and_then(open);
    let locked = locked.map_err(|error| FileError { path: folder.to_owned(), error })?;
    locked.iter().for_each(wait_for);
    Ok(locked)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    std::fs::create_dir_all(folder)?;
    clear(folder);
    let mut file = temporary(folder)?;
    file.as_file_mut().write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_folder(folder)
}

fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    loop {
        let file = builder.tempfile_in(folder).map_err(|error| without_path(&error))?;
        if claim(file.as_file())? {
            return Ok(file);
        }
    }
}

/// Removes the random path of a temporary file from its error.
fn without_path(error: &io::Error) -> io::Error {
    let text = error.to_string();
    let reason = text.split_once(" at path ").map_or(text.as_str(), |(reason, _)| reason);
    io::Error::new(error.kind(), reason)
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    match std::fs::File::open(folder)?.sync_all() {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
        {
            Ok(())
        }
        other => other,
    }
}
