//! The connections to the other members that carry votes: each member opens one to every other, on
//! which it talks, and listens on those that were opened to it.

use super::message::Message;
use crate::config::{Config, MemberId};
use crate::connection::PEER_GREETING;
use bytes::{Bytes, BytesMut};
use fencepost_machine::{ConnectionId, Output};
use std::collections::BTreeMap;

/// How far a connection that this server opened has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Dialling,
    Open,
}

/// One connection that this server opened.
#[derive(Clone, Copy, Debug)]
struct Link {
    connection: ConnectionId,
    stage: Stage,
}

/// The connections that this server opened to tell others its vote.
#[derive(Clone, Debug)]
pub(crate) struct Links {
    links: BTreeMap<MemberId, Link>,
    next: u32,
}

impl Links {
    pub(crate) fn new() -> Links {
        Links { links: BTreeMap::new(), next: u32::MAX }
    }

    /// A number for a connection that this server opens.
    pub(crate) fn new_connection(&mut self) -> ConnectionId {
        let connection = ConnectionId(self.next);
        // Half of all numbers are for connections that are accepted.
        self.next = if self.next <= u32::MAX / 2 + 1 { u32::MAX } else { self.next - 1 };
        connection
    }

    /// Opens a connection to a member.
    pub(crate) fn dial(
        &mut self,
        config: &Config,
        to: MemberId,
        out: &mut Vec<Output>,
    ) -> Option<ConnectionId> {
        let member = config.members.iter().find(|member| member.id == to)?;
        let connection = self.new_connection();
        let (host, port) = (member.host.clone(), member.port);
        out.push(Output::Connect { connection, host, port });
        Some(connection)
    }

    /// Tells a member something, if it can be reached at once; else calls it, and who calls
    /// decides again what to say once it answers.
    pub(crate) fn send(
        &mut self,
        config: &Config,
        to: MemberId,
        message: &Message,
        out: &mut Vec<Output>,
    ) {
        match self.links.get(&to) {
            Some(Link { connection, stage: Stage::Open }) => {
                out.push(Output::Send { connection: *connection, bytes: message.encode() });
            }
            Some(Link { stage: Stage::Dialling, .. }) => {}
            None => {
                if let Some(connection) = self.dial(config, to, out) {
                    self.links.insert(to, Link { connection, stage: Stage::Dialling });
                }
            }
        }
    }

    /// A connection is open. Returns to whom, if it is one of these.
    pub(crate) fn connected(&mut self, connection: ConnectionId) -> Option<MemberId> {
        let found = self.links.iter_mut().find(|(_, link)| link.connection == connection);
        found.map(|(member, link)| {
            link.stage = Stage::Open;
            *member
        })
    }

    /// A connection is gone, or could not be opened.
    pub(crate) fn lost(&mut self, connection: ConnectionId) {
        self.links.retain(|_, link| link.connection != connection);
    }
}

/// What is said first on a connection to another member.
pub(crate) fn greeting(me: MemberId) -> Bytes {
    let mut bytes = BytesMut::from(&PEER_GREETING[..]);
    bytes.extend_from_slice(&Message::Hello(me).encode());
    bytes.freeze()
}
