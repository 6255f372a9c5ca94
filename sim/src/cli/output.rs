//! Writing results: stdout, and files that are whole or not there.

use super::Failure;
use super::leftover::{TEMPORARY, claim, clear};
use fencepost_reports::format::{Detail, Page};
use fencepost_reports::visible::one_line;
use std::io::{self, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// Writes text to stdout. A reader that has seen enough and closed the pipe is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = anstream::AutoStream::auto(io::stdout().lock());
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(Failure::Output),
    }
}

/// A line on stderr has at most so many characters: what is in it can come from a file.
const LINE_MAX: usize = 2_000;

/// Writes a line to stderr: one line, whatever names it holds. Nobody may read it any more, and
/// that is no error either.
pub fn tell(line: impl std::fmt::Display) {
    let mut stderr = anstream::AutoStream::auto(io::stderr().lock());
    let _ = writeln!(stderr, "{}", one_line(&line.to_string(), LINE_MAX));
}

/// The page that a report is written for: as wide as COLUMNS says, else as the terminal, else as
/// wide as any page.
pub(crate) fn page(verbose: bool) -> Page {
    let stated = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal =
        || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
    let columns = stated.or_else(terminal).unwrap_or(Page::default().width);
    Page::of_width(columns, if verbose { Detail::Full } else { Detail::Brief })
}

/// Writes a file beside its place, sees to it that it is on the disk, then renames it; the folder is
/// synced too, so that a loss of power does not undo the rename. What an earlier process left
/// half-written in the folder is removed.
pub(crate) fn write_file(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::File { path: path.to_owned(), error };
    let folder =
        path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    clear(folder);
    let mut file = temporary(folder).map_err(failed)?;
    file.write_all(content).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    sync_folder(folder).map_err(failed)
}

/// A new file that no other process takes for a leftover.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // As any file: the umask takes away from it.
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

/// Reads a file, or standard input for `-`.
pub(crate) fn read_file(path: &Path) -> Result<String, Failure> {
    let failed = |error: io::Error| Failure::File { path: path.to_owned(), error };
    if path == Path::new("-") {
        return io::read_to_string(io::stdin()).map_err(failed);
    }
    std::fs::read_to_string(path).map_err(failed)
}
