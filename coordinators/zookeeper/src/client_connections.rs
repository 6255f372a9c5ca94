//! Answers clients, and closes their connections.

use crate::connection::{Client, Identity, Stage};
use crate::reply::{self, Granted};
use crate::server::ZooKeeper;
use bytes::Bytes;
use fencepost_machine::{ConnectionId, Output};

impl ZooKeeper {
    pub(crate) fn client(&self, connection: ConnectionId) -> Option<&Client> {
        match &self.connections.get(&connection)?.identity {
            Identity::Client(client) => Some(client),
            Identity::Unknown | Identity::Peer(_) => None,
        }
    }

    pub(crate) fn client_mut(&mut self, connection: ConnectionId) -> Option<&mut Client> {
        match &mut self.connections.get_mut(&connection)?.identity {
            Identity::Client(client) => Some(client),
            Identity::Unknown | Identity::Peer(_) => None,
        }
    }

    pub(crate) fn connection_of(&self, session: i64) -> Option<ConnectionId> {
        let mut connections = self.connections.keys();
        connections
            .find(|connection| {
                let client = self.client(**connection);
                session != 0 && client.is_some_and(|client| client.session == session)
            })
            .copied()
    }

    pub(crate) fn hang_up(&mut self, connection: ConnectionId) {
        if self.connections.remove(&connection).is_some() {
            self.watches.forget(connection);
            self.out.list.push(Output::Close { connection });
        }
    }

    pub(crate) fn establish(&mut self, connection: ConnectionId, is_valid: bool) {
        let Some(client) = self.client_mut(connection) else { return };
        client.stage = Stage::Established;
        let granted = Granted { session: client.session, timeout_ms: client.timeout_ms };
        let session = client.session;
        let answer = reply::session(is_valid.then_some(granted), client.is_told_read_only);
        self.send_to_client(connection, answer);
        if is_valid {
            let told = self.heads.of_session(session);
            self.report(told, Some(connection));
        }
        if !is_valid {
            self.hang_up(connection);
        }
    }

    pub(crate) fn send_to_client(&mut self, connection: ConnectionId, bytes: Bytes) {
        let now_ms = self.now_ms();
        if let Some(open) = self.connections.get_mut(&connection) {
            open.touch(now_ms);
            self.counts.sent += 1;
            self.send(connection, bytes);
        }
    }
}
