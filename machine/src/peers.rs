//! A server's text-line connections, accepted ([`Accepted`]) and opened to its peers ([`Peers`]).

use crate::connection::ConnectionId;
use crate::output::Output;
use bytes::{Bytes, BytesMut};
use std::collections::BTreeMap;

const LINE_MAX: usize = 1_024;
const PEER_LINE_MAX: usize = 64 << 20;
const WAITING_MAX: usize = 8;

/// A server of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    pub id: u8,
    pub host: String,
    /// Port for both clients and the other members.
    pub port: u16,
}

#[derive(Clone, Debug, Default)]
struct Open {
    input: BytesMut,
    /// Number of the peer; `None` for a client, and for a peer that has not introduced itself.
    peer: Option<u8>,
}

impl Open {
    fn line(&mut self) -> Option<Line> {
        let max = if self.peer.is_some() { PEER_LINE_MAX } else { LINE_MAX };
        let end = self.input.iter().position(|byte| *byte == b'\n');
        if end.unwrap_or(self.input.len()) > max {
            return Some(Line::TooLong);
        }
        let line = self.input.split_to(end? + 1);
        let line = String::from_utf8_lossy(&line).trim().to_owned();
        Some(match self.peer {
            Some(peer) => Line::Peer(peer, line),
            None => Line::Client(line),
        })
    }

    fn has_line(&self) -> bool {
        self.input.contains(&b'\n')
    }
}

/// A received line, trimmed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Line {
    Client(String),
    Peer(u8, String),
    /// The line is longer than the limit: 1,024 bytes for a client, 64 MiB for a peer.
    TooLong,
}

/// Connections that a server has accepted, from clients and from peers.
#[derive(Clone, Debug, Default)]
pub struct Accepted(BTreeMap<ConnectionId, Open>);

impl Accepted {
    /// Accepts a connection. If there are already `max`, answers `full` and closes it.
    pub fn accept(&mut self, connection: ConnectionId, max: usize, out: &mut Vec<Output>) {
        if self.0.len() < max {
            self.0.insert(connection, Open::default());
        } else {
            out.extend([line(connection, "full"), Output::Close { connection }]);
        }
    }

    pub fn receive(&mut self, connection: ConnectionId, bytes: &[u8]) {
        if let Some(open) = self.0.get_mut(&connection) {
            open.input.extend_from_slice(bytes);
        }
    }

    /// Returns the first connection that has a complete line.
    pub fn waiting(&self) -> Option<ConnectionId> {
        self.0.iter().find(|(_, open)| open.has_line()).map(|(connection, _)| *connection)
    }

    /// Removes and returns the next complete line from a connection, if any. A line with `greeting`
    /// and a peer's number introduces that peer: `take` records the number and returns `None`.
    pub fn take(
        &mut self,
        from: ConnectionId,
        greeting: &str,
        is_peer: impl Fn(u8) -> bool,
    ) -> Option<Line> {
        let open = self.0.get_mut(&from)?;
        let line = open.line()?;
        let Line::Client(text) = &line else { return Some(line) };
        let introduced = text.strip_prefix(greeting).and_then(|word| word.parse().ok());
        open.peer = introduced.filter(|peer| is_peer(*peer));
        open.peer.is_none().then_some(line)
    }

    pub fn clients(&self) -> impl Iterator<Item = ConnectionId> {
        self.0.iter().filter(|(_, open)| open.peer.is_none()).map(|(connection, _)| *connection)
    }

    pub fn remove(&mut self, connection: ConnectionId) {
        self.0.remove(&connection);
    }
}

/// Answer to [`Line::TooLong`].
pub const TOO_LONG: &str = "error line too long: expected at most 1024 bytes";

#[must_use]
pub fn line(connection: ConnectionId, text: &str) -> Output {
    Output::Send { connection, bytes: Bytes::from(format!("{text}\n")) }
}

/// Parses a number in a request. Returns an error message if the word is not a number.
pub fn number(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| {
        let word: String = word.chars().take(20).collect();
        format!("number '{word}': expected 0 to {}", u64::MAX)
    })
}

#[derive(Clone, Debug)]
struct Link {
    connection: ConnectionId,
    is_open: bool,
    waiting: Vec<Bytes>,
}

/// Connections that a server has opened, at most one per peer.
#[derive(Clone, Debug)]
pub struct Peers {
    links: BTreeMap<u8, Link>,
    next: u32,
}

impl Default for Peers {
    fn default() -> Peers {
        Peers { links: BTreeMap::new(), next: u32::MAX }
    }
}

impl Peers {
    /// Sends a message to peer `to`, and opens a connection if there is none. While the connection
    /// is opening, keeps only the last eight messages.
    pub fn send(
        &mut self,
        (to, host, port): (u8, &str, u16),
        message: Bytes,
        out: &mut Vec<Output>,
    ) {
        if !self.links.contains_key(&to) {
            let connection = ConnectionId(self.next);
            self.next = if self.next <= u32::MAX / 2 + 1 { u32::MAX } else { self.next - 1 };
            out.push(Output::Connect { connection, host: host.to_owned(), port });
            self.links.insert(to, Link { connection, is_open: false, waiting: Vec::new() });
        }
        let Some(link) = self.links.get_mut(&to) else { return };
        if link.is_open {
            out.push(Output::Send { connection: link.connection, bytes: message });
        } else {
            if link.waiting.len() >= WAITING_MAX {
                link.waiting.remove(0);
            }
            link.waiting.push(message);
        }
    }

    /// Sends the introduction and all waiting messages on a connection that has just opened.
    pub fn connected(
        &mut self,
        connection: ConnectionId,
        introduction: Bytes,
        out: &mut Vec<Output>,
    ) {
        let found = self.links.values_mut().find(|link| link.connection == connection);
        let Some(link) = found else { return };
        link.is_open = true;
        let waiting = std::mem::take(&mut link.waiting);
        let all = std::iter::once(introduction).chain(waiting);
        out.extend(all.map(|bytes| Output::Send { connection, bytes }));
    }

    pub fn lost(&mut self, connection: ConnectionId) -> Option<u8> {
        let found = self.links.iter().find(|(_, link)| link.connection == connection);
        let peer = found.map(|(peer, _)| *peer)?;
        self.links.remove(&peer);
        Some(peer)
    }
}
