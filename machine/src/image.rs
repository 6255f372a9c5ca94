//! What the files of a server hold.

use bytes::Bytes;

/// What the files of a server hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DiskImage {
    /// The snapshot, if one was ever saved.
    pub snapshot: Option<Bytes>,
    /// The append-only file.
    pub append_only: Bytes,
    /// The configuration file, if the server ever rewrote it, in the server's own format. It takes
    /// precedence over the configuration that the server was first started with.
    pub config: Option<Bytes>,
}
