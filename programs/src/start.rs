//! From a command to a stopped process.

use crate::interface::{Launch, StartError};
use crate::sys::spawn::{Image, is_executable, spawn};
use crate::sys::trace::Tracee;
use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};

/// Starts the program of a launch, stopped before its first instruction.
pub(crate) fn start(launch: &Launch) -> Result<Tracee, StartError> {
    let path = find_program(launch)?;
    let text = |bytes: &[u8]| CString::new(bytes).map_err(io::Error::other);
    let strings = |all: &mut dyn Iterator<Item = String>| -> Result<Vec<CString>, io::Error> {
        all.map(|one| text(one.as_bytes())).collect()
    };
    let image = Image {
        path: text(path.as_os_str().as_encoded_bytes())?,
        arguments: strings(&mut launch.command.iter().cloned())?,
        environment: strings(
            &mut launch.environment.iter().map(|(name, value)| format!("{name}={value}")),
        )?,
        folder: text(launch.folder.as_os_str().as_encoded_bytes())?,
    };
    spawn(&image)
}

/// The file of the program of a launch.
pub(crate) fn find_program(launch: &Launch) -> Result<PathBuf, StartError> {
    let name = launch.command.first().ok_or(StartError::Empty)?;
    let folders = launch.environment.get("PATH").map_or("", String::as_str);
    find(name, &launch.folder, folders)
}

/// The file of a program, as a shell finds it.
pub(crate) fn find(name: &str, folder: &Path, folders: &str) -> Result<PathBuf, StartError> {
    if name.contains('/') {
        let path = folder.join(name);
        return match (path.is_file(), is_executable(&path)) {
            (true, true) => Ok(path),
            (true, false) => Err(StartError::NotExecutable(name.to_owned())),
            (false, _) => Err(StartError::NotFound(name.to_owned())),
        };
    }
    let mut paths = folders.split(':').map(|one| folder.join(Path::new(one)).join(name));
    paths.find(|path| is_executable(path)).ok_or_else(|| StartError::NotFound(name.to_owned()))
}
