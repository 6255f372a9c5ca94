//! Contents of a server's files.

use bytes::Bytes;

/// Contents of a server's files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DiskImage {
    /// Snapshot, if one was ever saved.
    pub snapshot: Option<Bytes>,
    /// Append-only file.
    pub append_only: Bytes,
    /// Configuration file, if the server ever rewrote it, in the server's own format. It overrides
    /// the configuration that the server was first started with.
    pub config: Option<Bytes>,
}
