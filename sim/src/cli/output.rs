//! Writing results: stdout, and files that are whole or not there.

use super::Failure;
use fencepost_reports::record::visible::one_line;
use fencepost_reports::show::format::{Detail, Page};
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

/// A line for people has at most so many characters: what is in it can come from a file.
pub(crate) const LINE_MAX: usize = 2_000;

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

/// Reads a file, or standard input for `-`.
pub(crate) fn read_file(path: &Path) -> Result<String, Failure> {
    let failed = |error: io::Error| Failure::File { path: path.to_owned(), error };
    if path == Path::new("-") {
        return io::read_to_string(io::stdin()).map_err(failed);
    }
    std::fs::read_to_string(path).map_err(failed)
}
