//! Contents of a server's files.

use bytes::Bytes;

/// Contents of a server's files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DiskImage {
    /// Contents of the snapshot, if one was ever saved.
    pub snapshot: Option<Bytes>,
    /// Contents of the append-only file.
    pub append_only: Bytes,
    /// Contents of the configuration file, which override the server's configuration.
    pub config: Option<Bytes>,
}
