//! A server's files: a snapshot, what was appended since, and a configuration file.
//!
//! The first two belong to a generation: `dump.N.rdb` and `appendonly.N.aof`. The file `generation`
//! names the current one and is replaced by a rename, so that a snapshot takes the place of all
//! that went before it at one instant, whenever the process or the power ends.

use crate::ServeError;
use bytes::Bytes;
use fencepost_machine::{DiskImage, Output};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Where a server keeps its files; without a folder nothing is kept.
#[derive(Debug)]
pub struct Files {
    folder: Option<PathBuf>,
    generation: u64,
    append_only: Option<File>,
}

impl Files {
    /// No files.
    pub fn none() -> Files {
        Files { folder: None, generation: 0, append_only: None }
    }

    /// The files in a folder, which is made if there is none, and what they hold.
    ///
    /// # Errors
    /// If a file cannot be read or made.
    pub fn open(folder: &Path) -> Result<(Files, DiskImage), ServeError> {
        let failed = |error: io::Error| ServeError::File { path: folder.to_owned(), error };
        fs::create_dir_all(folder).map_err(failed)?;
        let generation = match fs::read_to_string(folder.join("generation")) {
            Ok(text) => text.trim().parse().map_err(|_| failed(ErrorKind::InvalidData.into()))?,
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            Err(error) => return Err(failed(error)),
        };
        let mut files = Files { folder: Some(folder.to_owned()), generation, append_only: None };
        let image = DiskImage {
            snapshot: read(&snapshot_path(folder, generation)).map_err(failed)?,
            append_only: read(&append_only_path(folder, generation))
                .map_err(failed)?
                .unwrap_or_default(),
            config: read(&folder.join("config")).map_err(failed)?,
        };
        files.append_only = Some(open_append_only(folder, generation).map_err(failed)?);
        Ok((files, image))
    }

    /// Carries out an output for the disk. A sync is the caller's to do: it is handed the file.
    pub(crate) fn apply(&mut self, output: &Output) -> Result<Option<File>, ServeError> {
        let done = match output {
            Output::DiskAppend { bytes } => self.append(bytes).map(|()| None),
            Output::DiskSync => self.append_only.as_ref().map(File::try_clone).transpose(),
            Output::DiskReplace { image } => self.replace(image).map(|()| None),
            Output::DiskConfig { config } => self.configure(config).map(|()| None),
            _ => Ok(None),
        };
        done.map_err(|error| self.failure(error))
    }

    /// Makes safe what was written.
    pub(crate) fn sync(&self) -> Result<(), ServeError> {
        let synced = self.append_only.as_ref().map_or(Ok(()), File::sync_data);
        synced.map_err(|error| self.failure(error))
    }

    /// What to say of an error of these files.
    pub(crate) fn failure(&self, error: io::Error) -> ServeError {
        ServeError::File { path: self.folder.clone().unwrap_or_default(), error }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.append_only.as_mut().map_or(Ok(()), |file| file.write_all(bytes))
    }

    fn configure(&self, config: &[u8]) -> io::Result<()> {
        match &self.folder {
            None => Ok(()),
            Some(folder) => write_at_once(folder, "config", config),
        }
    }

    fn replace(&mut self, image: &DiskImage) -> io::Result<()> {
        let Some(folder) = self.folder.clone() else { return Ok(()) };
        let (old, new) = (self.generation, self.generation + 1);
        if let Some(snapshot) = &image.snapshot {
            write_synced(&snapshot_path(&folder, new), snapshot)?;
        }
        write_synced(&append_only_path(&folder, new), &image.append_only)?;
        write_at_once(&folder, "generation", format!("{new}\n").as_bytes())?;
        self.generation = new;
        self.append_only = Some(open_append_only(&folder, new)?);
        remove(&snapshot_path(&folder, old))?;
        remove(&append_only_path(&folder, old))
    }
}

/// Replaces a file at one instant, whenever the process or the power ends.
fn write_at_once(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let draft = folder.join(format!("{name}.partial"));
    write_synced(&draft, bytes)?;
    fs::rename(draft, folder.join(name))?;
    File::open(folder)?.sync_all()
}

fn snapshot_path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("dump.{generation}.rdb"))
}

fn append_only_path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("appendonly.{generation}.aof"))
}

fn open_append_only(folder: &Path, generation: u64) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(append_only_path(folder, generation))
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// What a file holds; `None` if there is none.
fn read(path: &Path) -> io::Result<Option<Bytes>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(Bytes::from(bytes))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append(files: &mut Files, text: &'static str) {
        assert!(
            files
                .apply(&Output::DiskAppend { bytes: Bytes::from_static(text.as_bytes()) })
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn what_was_appended_is_found_again_and_a_replacement_takes_its_place_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (mut files, found) = Files::open(folder.path()).unwrap();
        assert_eq!(found, DiskImage::default());
        append(&mut files, "one");
        append(&mut files, "two");
        assert_eq!(Files::open(folder.path()).unwrap().1.append_only, "onetwo");
        let image =
            DiskImage { snapshot: Some(Bytes::from_static(b"all")), ..DiskImage::default() };
        files.apply(&Output::DiskReplace { image }).unwrap();
        append(&mut files, "three");
        let (_, found) = Files::open(folder.path()).unwrap();
        assert_eq!(
            (found.snapshot.unwrap(), found.append_only),
            (Bytes::from("all"), Bytes::from("three"))
        );
        assert!(
            !folder.path().join("appendonly.0.aof").exists(),
            "nothing of the old generation is left"
        );
    }

    #[test]
    fn a_configuration_file_outlives_a_replacement() {
        let folder = tempfile::tempdir().unwrap();
        let (mut files, _) = Files::open(folder.path()).unwrap();
        for config in ["one", "two"] {
            files.apply(&Output::DiskConfig { config: Bytes::from(config) }).unwrap();
        }
        files.apply(&Output::DiskReplace { image: DiskImage::default() }).unwrap();
        let (_, found) = Files::open(folder.path()).unwrap();
        assert_eq!(found.config, Some(Bytes::from("two")));
    }

    #[test]
    fn a_snapshot_that_was_not_finished_counts_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (mut files, _) = Files::open(folder.path()).unwrap();
        append(&mut files, "kept");
        fs::write(folder.path().join("dump.1.rdb"), "half").unwrap();
        let (_, found) = Files::open(folder.path()).unwrap();
        assert_eq!(found, DiskImage { append_only: Bytes::from("kept"), ..DiskImage::default() });
    }
}
