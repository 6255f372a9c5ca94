use super::judged::Owner;
use fencepost_machine::ConnectionId;
use std::collections::BTreeMap;
use std::net::SocketAddrV4;

#[derive(Default)]
pub(super) struct Peers {
    address: BTreeMap<ConnectionId, SocketAddrV4>,
    connection: BTreeMap<SocketAddrV4, ConnectionId>,
}

impl Peers {
    pub(super) fn note_peer(&mut self, connection: ConnectionId, address: SocketAddrV4) {
        self.address.insert(connection, address);
        self.connection.insert(address, connection);
    }

    pub(super) fn address(&self, connection: ConnectionId) -> Option<SocketAddrV4> {
        self.address.get(&connection).copied()
    }

    pub(super) fn owner(&self, address: Option<SocketAddrV4>) -> Owner {
        Owner::Connection(address.and_then(|address| self.connection.get(&address).copied()))
    }
}
