//! Servers that refuse to run as root run as the user `nobody`. Windows has no such user.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

const NOBODY: u32 = 65_534;

/// If this process is root, makes the user `nobody` the owner of a folder.
pub fn give_to_nobody(folder: &Path) {
    if is_root() {
        chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

/// If this process is root, makes a command run as the user `nobody`.
pub fn run_as_nobody(command: &mut Command) {
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}
