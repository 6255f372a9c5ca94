use crate::interface::{Launch, StartError};
use crate::sys::spawn::{Image, is_executable, is_root, spawn};
use crate::sys::trace::Tracee;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

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
        user: launch.user.filter(|_| is_root()),
    };
    spawn(&image)
}

pub(crate) fn find_program(launch: &Launch) -> Result<PathBuf, StartError> {
    let name = launch.command.first().ok_or(StartError::Empty)?;
    let folders = launch.environment.get("PATH").map_or("", String::as_str);
    find(name, &launch.folder, folders)
}

pub(crate) fn find(name: &str, folder: &Path, folders: &str) -> Result<PathBuf, StartError> {
    if name.contains('/') {
        let path = folder.join(name);
        return match (path.is_file(), is_executable(&path)) {
            (true, true) => runnable(name, path),
            (true, false) => Err(StartError::NotExecutable(name.to_owned())),
            (false, _) => Err(StartError::NotFound(name.to_owned())),
        };
    }
    let mut paths = folders.split(':').map(|one| folder.join(Path::new(one)).join(name));
    let found = paths.find(|path| is_executable(path));
    match found {
        None => Err(StartError::NotFound(name.to_owned())),
        Some(path) => runnable(name, path),
    }
}

fn runnable(name: &str, path: PathBuf) -> Result<PathBuf, StartError> {
    let mut head = [0; 20];
    let is_read = File::open(&path).and_then(|mut file| file.read_exact(&mut head)).is_ok();
    if !is_read || !head.starts_with(b"\x7fELF") {
        return Ok(path);
    }
    match (head[4], u16::from_le_bytes([head[18], head[19]])) {
        (libc::ELFCLASS32, _) => Err(StartError::ThirtyTwoBit(name.to_owned())),
        (_, libc::EM_X86_64) => Ok(path),
        _ => Err(StartError::OtherProcessor(name.to_owned())),
    }
}
