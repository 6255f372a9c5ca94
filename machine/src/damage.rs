//! Files of a server that are not as the server left them.

/// One of the files in a [`DiskImage`](crate::DiskImage).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskFile {
    /// The snapshot.
    Snapshot,
    /// The append-only file.
    AppendOnly,
    /// The configuration file.
    Config,
}

/// What a server does about a damaged file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Response {
    /// It starts without the damaged end of the file.
    Repaired,
    /// It does not start, and leaves every file as it is.
    Refused,
}

/// Damage that a server found when it read its files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    /// The damaged file.
    pub file: DiskFile,
    /// What is wrong and where: a lowercase fragment.
    pub what: String,
    /// What the server does about it.
    pub response: Response,
}
