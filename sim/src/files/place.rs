use std::fs::{self, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

const LINKS_MAX: usize = 40;

#[derive(PartialEq, Eq, Debug)]
pub(super) enum Place {
    File(PathBuf),
    Stream(PathBuf),
}

/// Resolves symbolic links, so that a write replaces the target and not the link.
pub(super) fn find(path: &Path) -> io::Result<Place> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Place::File(path)),
            Err(error) => return Err(error),
            Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(found) if found.is_symlink() => {
                // A link in `/proc` to a pipe contains a name such as `pipe:[42]`, not a path.
                if fs::metadata(&path).is_ok_and(|target| is_stream(&target)) {
                    return Ok(Place::Stream(path));
                }
                let target = fs::read_link(&path)?;
                path.pop();
                path.push(target);
            }
            Ok(found) if is_stream(&found) => return Ok(Place::Stream(path)),
            Ok(_) => return Ok(Place::File(path)),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

#[cfg(unix)]
fn is_stream(found: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let kind = found.file_type();
    kind.is_fifo() || kind.is_char_device() || kind.is_block_device() || kind.is_socket()
}

#[cfg(not(unix))]
fn is_stream(_: &Metadata) -> bool {
    false
}

#[cfg(unix)]
pub(super) fn write_through(path: &Path, content: &[u8]) -> io::Result<()> {
    use rustix::fs::{OFlags, fcntl_setfl};
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = fs::OpenOptions::new();
    // Without O_NONBLOCK, opening a pipe without a reader would block.
    options.write(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let mut file: fs::File = options.open(path)?;
    fcntl_setfl(&file, OFlags::empty())?;
    file.write_all(content)
}

#[cfg(not(unix))]
pub(super) fn write_through(path: &Path, content: &[u8]) -> io::Result<()> {
    fs::OpenOptions::new().write(true).open(path)?.write_all(content)
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::write_file;
    use super::*;
    use rustix::fs::{CWD, Mode, OFlags, mkfifoat};
    use std::fs::OpenOptions;
    use std::io::Read;
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, symlink};

    #[test]
    fn a_symbolic_link_stays_and_the_file_behind_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("far")).unwrap();
        fs::write(at("far/file"), "old").unwrap();
        symlink("far/file", at("link")).unwrap();
        symlink(at("link"), at("link to a link")).unwrap();
        symlink("far/none yet", at("dangling")).unwrap();
        for (name, behind) in
            [("link", "far/file"), ("link to a link", "far/file"), ("dangling", "far/none yet")]
        {
            write_file(&at(name), name.as_bytes()).unwrap();
            assert!(at(name).is_symlink(), "{name}");
            assert!(fs::symlink_metadata(at(behind)).unwrap().is_file());
            assert_eq!(fs::read_to_string(at(behind)).unwrap(), name);
        }
    }

    #[test]
    fn a_pipe_is_written_to_and_refused_if_nobody_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        let link = folder.path().join("link");
        symlink("pipe", &link).unwrap();
        let error = write_file(&pipe, b"lost").unwrap_err();
        assert!(error.to_string().contains("pipe: "), "{error}");
        let mut options = OpenOptions::new();
        let options = options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        let mut reader = options.open(&pipe).unwrap();
        for path in [&pipe, &link] {
            write_file(path, b"heard").unwrap();
            let mut heard = [0; 9];
            let length = reader.read(&mut heard).unwrap();
            assert_eq!(&heard[..length], b"heard");
        }
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
        assert!(link.is_symlink());
    }

    #[test]
    fn a_folder_and_a_circle_of_links_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(find(folder.path()).is_err());
        symlink("circle", folder.path().join("circle")).unwrap();
        assert!(find(&folder.path().join("circle")).is_err());
    }
}
