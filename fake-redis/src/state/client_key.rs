//! Ids of clients within a server.

/// A client's id, unique while it is connected.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ClientKey(pub(crate) usize);

impl ClientKey {
    /// Runs the commands of scripts.
    pub(crate) const SCRIPT: ClientKey = ClientKey(0);
    /// Applies the primary's stream.
    pub(crate) const PRIMARY: ClientKey = ClientKey(1);
    /// Applies the append-only file.
    pub(crate) const DISK: ClientKey = ClientKey(2);
    /// The server's console.
    pub(crate) const OPERATOR: ClientKey = ClientKey(3);
}
