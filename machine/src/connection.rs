//! How a connection of a server is named.

/// Names a connection of one server, for as long as it is open. Given by the driver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectionId(pub u32);

impl ConnectionId {
    /// Whether the server accepted the connection, rather than opening it.
    pub fn was_accepted(self) -> bool {
        self.0 < u32::MAX / 2
    }
}
