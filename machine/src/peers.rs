//! A server's text-line connections, accepted ([`Accepted`]) and opened to its peers ([`Peers`]).

use crate::connection::ConnectionId;
use crate::output::Output;
use bytes::{Bytes, BytesMut};
use std::collections::BTreeMap;

const LINE_MAX: usize = 1_024;
const PEER_LINE_MAX: usize = 64 << 20;
const WAITING_MAX: usize = 8;

#[derive(Clone, Debug, Default)]
pub struct Accepted {
    pub input: BytesMut,
    /// Number of the peer; `None` for a client, and for a peer that has not introduced itself.
    pub peer: Option<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoLine {
    Incomplete,
    /// The line is longer than the limit: 1,024 bytes for a client, 64 MiB for a peer.
    TooLong,
}

impl Accepted {
    pub fn line(&mut self) -> Result<Bytes, NoLine> {
        let max = if self.peer.is_some() { PEER_LINE_MAX } else { LINE_MAX };
        match self.input.iter().position(|byte| *byte == b'\n') {
            Some(end) if end <= max => {
                let line = self.input.split_to(end + 1).freeze();
                Ok(line.slice(..end))
            }
            None if self.input.len() <= max => Err(NoLine::Incomplete),
            Some(_) | None => Err(NoLine::TooLong),
        }
    }

    pub fn has_line(&self) -> bool {
        self.input.contains(&b'\n')
    }
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
