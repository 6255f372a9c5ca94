//! The connections between replicas: each opens one to every other, on which it alone talks. What
//! does not fit into the little that waits for a connection is lost, as Paxos expects it.

use crate::config::Config;
use crate::message::Message;
use bytes::Bytes;
use fencepost_machine::{ConnectionId, Output};
use std::collections::BTreeMap;

/// How many messages wait for a connection.
const WAITING_MAX: usize = 8;

#[derive(Clone, Debug)]
struct Link {
    connection: ConnectionId,
    is_open: bool,
    waiting: Vec<Bytes>,
}

/// The connections that this replica opened.
#[derive(Clone, Debug)]
pub(crate) struct Peers {
    links: BTreeMap<u8, Link>,
    next: u32,
}

impl Peers {
    pub(crate) fn new() -> Peers {
        Peers { links: BTreeMap::new(), next: u32::MAX }
    }

    /// Sends a message to a replica, and connects to it first if need be.
    pub(crate) fn send(
        &mut self,
        config: &Config,
        (to, message): (u8, &Message),
        out: &mut Vec<Output>,
    ) {
        let Some(member) = config.others().find(|member| member.id == to) else { return };
        if !self.links.contains_key(&to) {
            let connection = ConnectionId(self.next);
            // Half of all numbers are for connections that are accepted.
            self.next = if self.next <= u32::MAX / 2 + 1 { u32::MAX } else { self.next - 1 };
            let (host, port) = (member.host.clone(), member.port);
            out.push(Output::Connect { connection, host, port });
            self.links.insert(to, Link { connection, is_open: false, waiting: Vec::new() });
        }
        let Some(link) = self.links.get_mut(&to) else { return };
        let bytes = Bytes::from(message.line());
        if link.is_open {
            out.push(Output::Send { connection: link.connection, bytes });
        } else {
            // The latest message of a kind says what the earlier ones did.
            if link.waiting.len() >= WAITING_MAX {
                link.waiting.remove(0);
            }
            link.waiting.push(bytes);
        }
    }

    pub(crate) fn connected(&mut self, connection: ConnectionId, me: u8, out: &mut Vec<Output>) {
        let found = self.links.values_mut().find(|link| link.connection == connection);
        let Some(link) = found else { return };
        link.is_open = true;
        let greeting = Bytes::from(format!("replica {me}\n"));
        let waiting = std::mem::take(&mut link.waiting);
        let all = std::iter::once(greeting).chain(waiting);
        out.extend(all.map(|bytes| Output::Send { connection, bytes }));
    }

    /// A connection is gone, or could not be opened.
    pub(crate) fn lost(&mut self, connection: ConnectionId) {
        self.links.retain(|_, link| link.connection != connection);
    }
}
