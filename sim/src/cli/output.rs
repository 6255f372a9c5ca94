use super::Failure;
use crate::files::{FileError, check_folder, check_writable};
use fencepost_reports::record::visible::one_line;
use fencepost_reports::show::format::{Detail, Page};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = anstream::AutoStream::auto(io::stdout().lock());
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(Failure::Output),
    }
}

pub(crate) const LINE_MAX: usize = 2_000;

/// Writes `line` to stderr as a single line of limited length. Ignores write errors.
pub fn log(line: impl std::fmt::Display) {
    let mut stderr = anstream::AutoStream::auto(io::stderr().lock());
    let _ = writeln!(stderr, "{}", one_line(&line.to_string(), LINE_MAX));
}

pub(crate) fn page(detail: Detail) -> Page {
    let stated = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal =
        || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
    let columns = stated.or_else(terminal).unwrap_or(Page::default().width);
    Page::of_width(columns, detail)
}

/// Creates the `--out` folder before the runs, so that a wrong path fails early.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Failure> {
    check_folder(folder).map_err(|error| {
        let folder = folder.display();
        Failure::wrong(format!("--out '{folder}': {error}: expected a folder for reports"))
    })
}

/// Fails if a command cannot write the file of `option`. Commands call this before their runs.
pub(crate) fn require_writable(option: &str, path: &Path) -> Result<(), Failure> {
    check_writable(path).map_err(|FileError { path, error }| {
        let path = path.display();
        Failure::wrong(format!("{option} '{path}': {error}: expected a writable file"))
    })
}

const STREAM_BYTES_MAX: u64 = 256 << 20;

pub(crate) fn read_file(path: &Path, expected: &str) -> Result<String, Failure> {
    let read = || -> io::Result<String> {
        let file = match path == Path::new("-") {
            true => standard_input()?,
            false => File::open(path)?,
        };
        let max = if file.metadata()?.is_file() { u64::MAX - 1 } else { STREAM_BYTES_MAX };
        read_at_most(file, max)
    };
    read().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Failure::content(path, format!("no such file: expected {expected}"))
        }
        io::ErrorKind::IsADirectory => {
            Failure::content(path, format!("is a folder: expected {expected}"))
        }
        _ => Failure::File { path: path.to_owned(), error },
    })
}

#[cfg(unix)]
fn standard_input() -> io::Result<File> {
    use std::os::fd::AsFd;
    io::stdin().as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(windows)]
fn standard_input() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    io::stdin().as_handle().try_clone_to_owned().map(File::from)
}

fn read_at_most(source: impl Read, max: u64) -> io::Result<String> {
    let mut text = Vec::new();
    source.take(max + 1).read_to_end(&mut text)?;
    if text.len() as u64 > max {
        let found = format!("longer than {max} bytes: expected a smaller file");
        return Err(io::Error::other(found));
    }
    String::from_utf8(text).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidData, "not valid UTF-8: expected a text file")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_without_an_end_is_read_up_to_a_bound() {
        assert_eq!(read_at_most(&b"text"[..], 4).unwrap(), "text");
        assert_eq!(read_at_most(io::repeat(b' ').take(5), 5).unwrap().len(), 5);
        let error = read_at_most(io::repeat(b' '), 9_999).unwrap_err().to_string();
        assert!(error.contains("longer than 9999 bytes"), "{error}");
        assert!(read_at_most(io::repeat(0xff).take(3), 9).is_err(), "it is no text");
    }
}
