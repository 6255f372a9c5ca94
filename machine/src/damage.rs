//! Damage that a server finds in its files.

/// A file of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskFile {
    /// The snapshot.
    Snapshot,
    /// The append-only file.
    AppendOnly,
    /// The configuration file.
    Config,
}

/// A server's response to a damaged file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Response {
    /// The server starts without the damaged end of the file.
    Repaired,
    /// The server does not start, and leaves every file unchanged.
    Refused,
}

/// Damage that a server found in one of its files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    /// File with the damage.
    pub file: DiskFile,
    /// Kind and place of the damage, as a lowercase fragment of a sentence.
    pub what: String,
    /// The server's response to the damage.
    pub response: Response,
}
