//! Contents of a server's files ([`DiskImage`]).

use bytes::Bytes;

/// Contents of a server's files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DiskImage {
    /// Contents of the snapshot, if one was ever saved.
    pub snapshot: Option<Bytes>,
    /// Contents of the append-only file.
    pub append_only: Bytes,
    /// Contents of the configuration file in the server's format, which override the configuration.
    pub config: Option<Bytes>,
}
