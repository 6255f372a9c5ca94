use super::{GENERATION, append_only_path, config_path, failed, snapshot_path};
use crate::ServeError;
use bytes::Bytes;
use fencepost_machine::DiskImage;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

pub(super) fn generation(folder: &Path) -> Result<u64, ServeError> {
    let path = folder.join(GENERATION);
    match read(&path)? {
        Some(text) => std::str::from_utf8(&text)
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .filter(|number| *number > 0)
            .ok_or_else(|| damaged(&path, "expected a number of at least 1")),
        None if has_later_files(folder)? => {
            Err(damaged(&path, "missing, although files of a later generation exist"))
        }
        None => Ok(0),
    }
}

/// Returns `true` if the folder has an append-only file, but none of generation 0.
fn has_later_files(folder: &Path) -> Result<bool, ServeError> {
    if append_only_path(folder, 0).exists() {
        return Ok(false);
    }
    let unreadable = |error| failed(folder, error);
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        if name.to_string_lossy().starts_with("appendonly.") {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn image(folder: &Path, generation: u64) -> Result<DiskImage, ServeError> {
    let path = append_only_path(folder, generation);
    let append_only = match read(&path)? {
        Some(bytes) => bytes,
        None if generation == 0 => Bytes::new(),
        None => {
            return Err(damaged(&path, "missing, although the file 'generation' names this file"));
        }
    };
    let snapshot = read(&snapshot_path(folder, generation))?;
    Ok(DiskImage { snapshot, append_only, config: read(&config_path(folder))? })
}

fn damaged(path: &Path, what: &str) -> ServeError {
    ServeError::Damaged { path: path.to_owned(), what: what.to_owned() }
}

fn read(path: &Path) -> Result<Option<Bytes>, ServeError> {
    let read = || -> io::Result<Option<Bytes>> {
        match fs::metadata(path) {
            Ok(about) if !about.is_file() => Ok(None),
            Ok(_) => fs::read(path).map(|bytes| Some(Bytes::from(bytes))),
            Err(error) => Err(error),
        }
    };
    match read() {
        Ok(None) => Err(damaged(path, "expected a regular file")),
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, error)),
    }
}
