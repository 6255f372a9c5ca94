//! Folders for real servers' files. If fencepost is killed, a later trial run removes them.

use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const PREFIX: &str = "fencepost-server-";

pub(super) fn new() -> io::Result<TempDir> {
    // Servers keep this path in memory, so its length must be the same in every run.
    let prefix = format!("{PREFIX}{:010}-", std::process::id());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

pub(super) fn remove_leftovers() {
    let lives = |number: u32| Path::new("/proc").join(number.to_string()).exists();
    leftovers(&std::env::temp_dir(), lives).into_iter().for_each(|folder| {
        let _ = std::fs::remove_dir_all(folder);
    });
}

fn leftovers(folder: &Path, lives: impl Fn(u32) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_left = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
        number.and_then(|(number, _)| number.parse().ok()).is_some_and(|number| !lives(number))
    };
    entries.flatten().map(|entry| entry.path()).filter(is_left).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_other_processes_stay_while_those_live() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["fencepost-server-7-a", "fencepost-server-8-b", "fencepost-server-", "other"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let left = leftovers(folder.path(), |number| number == 8);
        assert_eq!(left, [folder.path().join("fencepost-server-7-a")]);
    }
}
