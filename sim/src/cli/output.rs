//! Writing results: stdout, and files that are whole or not there. Must never know what it writes.

use super::Failure;
use std::io::{self, Write};
use std::path::Path;

/// Writes text to stdout. A reader that has seen enough and closed the pipe is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = anstream::AutoStream::auto(io::stdout().lock());
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(Failure::Output),
    }
}

/// Writes a file beside its place, sees to it that it is on the disk, then renames it.
pub(crate) fn write_file(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::File { path: path.to_owned(), error };
    let folder =
        path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // As any file: the umask takes away from it.
    let mut file = builder.tempfile_in(folder).map_err(failed)?;
    file.write_all(content).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Reads a file, or standard input for `-`.
pub(crate) fn read_file(path: &Path) -> Result<String, Failure> {
    let failed = |error: io::Error| Failure::File { path: path.to_owned(), error };
    if path == Path::new("-") {
        return io::read_to_string(io::stdin()).map_err(failed);
    }
    std::fs::read_to_string(path).map_err(failed)
}
