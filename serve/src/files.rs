//! A server's files. The snapshot and the log of generation N are `dump.N.rdb` and
//! `appendonly.N.aof`. The file `generation` contains the current N, which is 0 without this file.
//! Renaming a new `generation` into place replaces both files atomically.

mod found;
mod lock;

use crate::ServeError;
use fencepost_machine::{DiskFile, DiskImage, Output};
use lock::FolderLock;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Without a folder, writes have no effect.
#[derive(Debug)]
pub struct Files {
    folder: Option<PathBuf>,
    generation: u64,
    append_only: Option<File>,
    _lock: Option<FolderLock>,
}

impl Files {
    pub fn none() -> Files {
        Files { folder: None, generation: 0, append_only: None, _lock: None }
    }

    /// Locks the folder, and reads its files. Fails if another server uses the folder, or if the
    /// files cannot be read or are incomplete.
    pub fn open(folder: &Path) -> Result<(Files, DiskImage), ServeError> {
        fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        let lock = Some(FolderLock::take(folder)?);
        let generation = found::generation(folder)?;
        let image = found::image(folder, generation)?;
        let path = append_only_path(folder, generation);
        let append_only = Some(open_append_only(&path).map_err(|error| failed(&path, error))?);
        Ok((Files { folder: Some(folder.to_owned()), generation, append_only, _lock: lock }, image))
    }

    pub(crate) fn path(&self, file: DiskFile) -> PathBuf {
        let folder = self.folder.as_deref().unwrap_or(Path::new("."));
        match file {
            DiskFile::Snapshot => snapshot_path(folder, self.generation),
            DiskFile::AppendOnly => append_only_path(folder, self.generation),
            DiskFile::Config => config_path(folder),
        }
    }

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

    pub(crate) fn sync(&self) -> Result<(), ServeError> {
        let synced = self.append_only.as_ref().map_or(Ok(()), File::sync_data);
        synced.map_err(|error| self.failure(error))
    }

    pub(crate) fn failure(&self, error: io::Error) -> ServeError {
        ServeError::File { path: self.folder.clone().unwrap_or_default(), error }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.append_only.as_mut().map_or(Ok(()), |file| file.write_all(bytes))
    }

    fn configure(&self, config: &[u8]) -> io::Result<()> {
        match &self.folder {
            None => Ok(()),
            Some(folder) => write_at_once(folder, CONFIG, config),
        }
    }

    fn replace(&mut self, image: &DiskImage) -> io::Result<()> {
        let Some(folder) = self.folder.clone() else { return Ok(()) };
        let (old, new) = (self.generation, self.generation + 1);
        if let Some(snapshot) = &image.snapshot {
            write_synced(&snapshot_path(&folder, new), snapshot)?;
        }
        write_synced(&append_only_path(&folder, new), &image.append_only)?;
        write_at_once(&folder, GENERATION, format!("{new}\n").as_bytes())?;
        self.generation = new;
        self.append_only = Some(open_append_only(&append_only_path(&folder, new))?);
        remove(&snapshot_path(&folder, old))?;
        remove(&append_only_path(&folder, old))
    }
}

fn write_at_once(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let draft = folder.join(format!("{name}.partial"));
    write_synced(&draft, bytes)?;
    fs::rename(draft, folder.join(name))?;
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

const GENERATION: &str = "generation";
const CONFIG: &str = "config";

fn snapshot_path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("dump.{generation}.rdb"))
}

fn append_only_path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("appendonly.{generation}.aof"))
}

fn config_path(folder: &Path) -> PathBuf {
    folder.join(CONFIG)
}

fn open_append_only(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}

fn failed(path: &Path, error: io::Error) -> ServeError {
    ServeError::File { path: path.to_owned(), error }
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
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
    use bytes::Bytes;

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
        drop(files);
        let (mut files, found) = Files::open(folder.path()).unwrap();
        assert_eq!(found.append_only, "onetwo");
        let image =
            DiskImage { snapshot: Some(Bytes::from_static(b"all")), ..DiskImage::default() };
        files.apply(&Output::DiskReplace { image }).unwrap();
        append(&mut files, "three");
        drop(files);
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
        drop(files);
        let (_, found) = Files::open(folder.path()).unwrap();
        assert_eq!(found.config, Some(Bytes::from("two")));
    }

    #[test]
    fn a_snapshot_that_was_not_finished_counts_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (mut files, _) = Files::open(folder.path()).unwrap();
        append(&mut files, "kept");
        drop(files);
        fs::write(folder.path().join("dump.1.rdb"), "half").unwrap();
        let (_, found) = Files::open(folder.path()).unwrap();
        assert_eq!(found, DiskImage { append_only: Bytes::from("kept"), ..DiskImage::default() });
    }

    #[test]
    fn a_folder_has_one_server_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let (first, _) = Files::open(folder.path()).unwrap();
        let error = Files::open(folder.path()).unwrap_err().to_string();
        let expected = format!("in use by process {}", std::process::id());
        assert!(error.contains(&expected), "{error}");
        drop(first);
        Files::open(folder.path()).unwrap();
    }

    fn refusal(files: &[(&str, &str)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
        let error = Files::open(folder.path()).unwrap_err().to_string();
        for (name, text) in files {
            assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), *text);
        }
        error
    }

    #[test]
    fn a_folder_without_a_file_that_its_server_wrote_is_refused() {
        let error = refusal(&[("generation", "3\n"), ("dump.3.rdb", "all")]);
        assert!(error.contains("appendonly.3.aof: missing"), "{error}");
        let error = refusal(&[("dump.3.rdb", "all"), ("appendonly.3.aof", "more")]);
        assert!(error.contains("generation: missing"), "{error}");
        for number in ["thr\n", "0\n"] {
            let error = refusal(&[("generation", number), ("appendonly.3.aof", "more")]);
            assert!(error.contains("generation: expected a number"), "{error}");
        }
    }

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("dump.0.rdb");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        let error = Files::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("dump.0.rdb: expected a regular file"), "{error}");
    }
}
