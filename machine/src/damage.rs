//! Damaged files of a server.

/// A file of a [`DiskImage`](crate::DiskImage).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskFile {
    /// Snapshot.
    Snapshot,
    /// Append-only file.
    AppendOnly,
    /// Configuration file.
    Config,
}

/// A server's response to a damaged file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Response {
    /// Starts without the damaged end of the file.
    Repaired,
    /// Does not start and leaves every file unchanged.
    Refused,
}

/// Damage that a server found in its files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    /// The damaged file.
    pub file: DiskFile,
    /// Kind and place, as a lowercase fragment.
    pub what: String,
    /// The server's response.
    pub response: Response,
}
