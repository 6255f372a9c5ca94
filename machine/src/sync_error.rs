#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyncError {
    Io,
    Full,
}

impl SyncError {
    pub fn text(self) -> &'static str {
        match self {
            SyncError::Io => "Input/output error",
            SyncError::Full => "No space left on device",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyncOf {
    /// The append-only file. The next successful sync also covers the bytes of the failed one.
    Appended,
    /// A [`crate::Output::DiskReplace`]. The old files stay in place.
    Replacement,
}
