//! Contents of a server's files.

use bytes::Bytes;

/// Contents of a server's files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DiskImage {
    /// Snapshot, if one was ever saved.
    pub snapshot: Option<Bytes>,
    /// Append-only file.
    pub append_only: Bytes,
    /// Configuration file in the server's own format. It overrides the initial configuration.
    pub config: Option<Bytes>,
}
