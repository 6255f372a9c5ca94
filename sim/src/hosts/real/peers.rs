use super::console::PeerAddress;
use super::judged::Owner;
use fencepost_machine::ConnectionId;
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Peers {
    address: BTreeMap<ConnectionId, PeerAddress>,
    connection: BTreeMap<PeerAddress, ConnectionId>,
}

impl Peers {
    pub(super) fn note_peer(&mut self, connection: ConnectionId, address: PeerAddress) {
        self.address.insert(connection, address);
        self.connection.insert(address, connection);
    }

    pub(super) fn address(&self, connection: ConnectionId) -> Option<PeerAddress> {
        self.address.get(&connection).copied()
    }

    pub(super) fn owner(&self, address: Option<PeerAddress>) -> Owner {
        Owner::Connection(address.and_then(|address| self.connection.get(&address).copied()))
    }
}
