//! Maps the connections of the world to the server's sockets.

use fencepost_machine::ConnectionId;
use fencepost_programs::SocketId;
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Peer {
    Client,
    Server,
}

struct Link {
    socket: SocketId,
    is_asked: bool,
    is_late: bool,
    peer: Peer,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AnswerTiming {
    AtOnce,
    Late,
    Unasked,
}

#[derive(Default)]
pub(super) struct Links {
    open: BTreeMap<ConnectionId, Link>,
    of_socket: BTreeMap<SocketId, ConnectionId>,
    opened: u32,
}

impl Links {
    pub(super) fn accept_connection(
        &mut self,
        connection: ConnectionId,
        socket: SocketId,
        peer: Peer,
    ) {
        let link = Link { socket, is_asked: false, is_late: false, peer };
        self.open.insert(connection, link);
        self.of_socket.insert(socket, connection);
    }

    pub(super) fn open_connection(&mut self, socket: SocketId) -> ConnectionId {
        let connection = ConnectionId(u32::MAX - self.opened);
        self.opened += 1;
        self.accept_connection(connection, socket, Peer::Server);
        connection
    }

    pub(super) fn socket(&self, connection: ConnectionId) -> Option<SocketId> {
        self.open.get(&connection).map(|link| link.socket)
    }

    pub(super) fn note_request(&mut self, connection: ConnectionId) -> Option<SocketId> {
        let link = self.open.get_mut(&connection)?;
        (link.is_asked, link.is_late) = (true, false);
        Some(link.socket)
    }

    pub(super) fn note_read(&mut self, connection: ConnectionId) {
        if let Some(link) = self.open.get_mut(&connection) {
            link.is_late = link.is_asked;
        }
    }

    pub(super) fn answers(&mut self, socket: SocketId) -> Option<(ConnectionId, AnswerTiming)> {
        let connection = *self.of_socket.get(&socket)?;
        let link = self.open.get_mut(&connection)?;
        let (was_asked, is_late) = (link.is_asked, link.is_late);
        (link.is_asked, link.is_late) = (false, false);
        let answered = match was_asked {
            true if is_late => AnswerTiming::Late,
            false if link.peer == Peer::Client => AnswerTiming::Unasked,
            _ => AnswerTiming::AtOnce,
        };
        Some((connection, answered))
    }

    pub(super) fn ends(&mut self, connection: ConnectionId) -> Option<SocketId> {
        let link = self.open.remove(&connection)?;
        self.of_socket.remove(&link.socket);
        Some(link.socket)
    }

    pub(super) fn close_socket(&mut self, socket: SocketId) -> Option<ConnectionId> {
        let connection = self.of_socket.remove(&socket)?;
        self.open.remove(&connection);
        Some(connection)
    }

    pub(super) fn close_all(&mut self) -> Vec<ConnectionId> {
        self.of_socket.clear();
        std::mem::take(&mut self.open).into_keys().collect()
    }

    pub(super) fn mark_server(&mut self, connection: ConnectionId) {
        if let Some(link) = self.open.get_mut(&connection) {
            link.peer = Peer::Server;
        }
    }

    pub(super) fn is_raw(&self, connection: ConnectionId) -> bool {
        self.open.get(&connection).is_some_and(|link| link.peer == Peer::Server)
    }

    pub(super) fn has_clients(&self) -> bool {
        self.open.values().any(|link| link.peer == Peer::Client)
    }

    pub(super) fn has_pending_answer(&self) -> bool {
        self.open.values().any(|link| link.is_asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_was_put_off_is_answered_late() {
        let (client, socket) = (ConnectionId(0), SocketId(4));
        let mut links = Links::default();
        links.accept_connection(client, socket, Peer::Client);
        assert_eq!(links.answers(socket), Some((client, AnswerTiming::Unasked)));
        links.note_request(client);
        assert!(links.has_pending_answer());
        assert_eq!(links.answers(socket), Some((client, AnswerTiming::AtOnce)));
        links.note_read(client);
        links.note_request(client);
        links.note_read(client);
        assert_eq!(links.answers(socket), Some((client, AnswerTiming::Late)));
        assert!(!links.has_pending_answer());
    }

    #[test]
    fn a_connection_is_closed_once() {
        let mut links = Links::default();
        let opened = links.open_connection(SocketId(1));
        links.accept_connection(ConnectionId(0), SocketId(2), Peer::Client);
        assert!(!opened.was_accepted() && links.is_raw(opened) && !links.is_raw(ConnectionId(0)));
        assert_eq!(links.ends(opened), Some(SocketId(1)));
        assert_eq!(links.close_socket(SocketId(1)), None);
        assert_eq!(links.close_all(), [ConnectionId(0)]);
    }
}
