use super::message::Message;
use crate::config::{Config, MemberId};
use crate::connection::PEER_GREETING;
use bytes::{Bytes, BytesMut};
use fencepost_machine::{ConnectionId, Output};
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Dialling,
    Open,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    connection: ConnectionId,
    stage: Stage,
}

#[derive(Clone, Debug)]
pub(crate) struct Links {
    links: BTreeMap<MemberId, Link>,
    next: u32,
}

impl Links {
    pub(crate) fn new() -> Links {
        Links { links: BTreeMap::new(), next: u32::MAX }
    }

    pub(crate) fn new_connection(&mut self) -> ConnectionId {
        let connection = ConnectionId(self.next);
        // Accepted connections use the lower half of the ids.
        self.next = if self.next <= u32::MAX / 2 + 1 { u32::MAX } else { self.next - 1 };
        connection
    }

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

    pub(crate) fn connected(&mut self, connection: ConnectionId) -> Option<MemberId> {
        let found = self.links.iter_mut().find(|(_, link)| link.connection == connection);
        found.map(|(member, link)| {
            link.stage = Stage::Open;
            *member
        })
    }

    pub(crate) fn lost(&mut self, connection: ConnectionId) {
        self.links.retain(|_, link| link.connection != connection);
    }
}

pub(crate) fn greeting(me: MemberId) -> Bytes {
    let mut bytes = BytesMut::from(&PEER_GREETING[..]);
    bytes.extend_from_slice(&Message::Hello(me).encode());
    bytes.freeze()
}
