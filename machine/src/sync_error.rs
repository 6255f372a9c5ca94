//! Errors of disk syncs, and the outputs that they belong to.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyncError {
    /// `EIO`.
    Io,
    /// `ENOSPC`.
    Full,
}

impl SyncError {
    /// Returns the text of the C library's `strerror`.
    pub fn text(self) -> &'static str {
        match self {
            SyncError::Io => "Input/output error",
            SyncError::Full => "No space left on device",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyncOf {
    /// The append-only file. Its next successful sync covers the bytes of the failed sync too.
    Appended,
    /// A [`crate::Output::DiskReplace`]. The old files remain.
    Replacement,
}
