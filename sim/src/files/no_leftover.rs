//! The Windows implementation. It neither locks nor removes temporary files.

use std::fs::File;
use std::io;
use std::path::Path;

pub(crate) const TEMPORARY: &str = ".tmp-fencepost-";

pub(crate) fn claim(_: &File) -> io::Result<bool> {
    Ok(true)
}

pub(crate) fn wait_for(_: &File) {}

pub(crate) fn clear(_: &Path) {}
