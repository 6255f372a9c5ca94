/// Id of a connection, unique at its server.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectionId(pub u32);

impl ConnectionId {
    /// Returns `false` for a connection that the server opened.
    pub fn was_accepted(self) -> bool {
        self.0 < u32::MAX / 2
    }
}
