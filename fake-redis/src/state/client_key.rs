//! How a client is named within its server.

/// Names a client within its server, for as long as it is there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ClientKey(pub(crate) usize);

impl ClientKey {
    /// The client on whose behalf scripts call commands.
    pub(crate) const SCRIPT: ClientKey = ClientKey(0);
    /// The client that applies what the primary sends.
    pub(crate) const PRIMARY: ClientKey = ClientKey(1);
    /// The client that applies what the append-only file holds.
    pub(crate) const DISK: ClientKey = ClientKey(2);
    /// The client at the server's console.
    pub(crate) const OPERATOR: ClientKey = ClientKey(3);
}
