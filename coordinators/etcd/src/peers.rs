//! Connections between members. A member sends only on connections that it opened.

use crate::config::{Config, Member};
use crate::raft::Message;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use fencepost_machine::{ConnectionId, Output};
use std::collections::BTreeMap;

/// First bytes that a peer sends on a connection. No HTTP request begins with these bytes.
pub(crate) const GREETING: &[u8] = b"\0etcd-peer\n";
const FRAME_MAX: usize = 64 << 20;
/// Maximum number of messages that wait for a connection to open (`pipelineBufSize`).
const WAITING_MAX: usize = 64;

#[derive(Clone, Debug)]
struct Link {
    connection: ConnectionId,
    is_open: bool,
    waiting: Vec<Bytes>,
}

#[derive(Clone, Debug)]
pub(crate) struct Peers {
    links: BTreeMap<u8, Link>,
    next: u32,
    heard: BTreeMap<u8, u64>,
}

impl Peers {
    pub(crate) fn new() -> Peers {
        Peers { links: BTreeMap::new(), next: u32::MAX, heard: BTreeMap::new() }
    }

    pub(crate) fn send_message(
        &mut self,
        config: &Config,
        message: &Message,
        out: &mut Vec<Output>,
    ) {
        if !self.links.contains_key(&message.to) {
            let to = config.others().find(|member| member.id == message.to);
            let Some(to) = to else { return };
            self.dial(to, out);
        }
        let Some(link) = self.links.get_mut(&message.to) else { return };
        let bytes = frame(message);
        if link.is_open {
            out.push(Output::Send { connection: link.connection, bytes });
        } else if link.waiting.len() < WAITING_MAX {
            link.waiting.push(bytes);
        }
    }

    fn dial(&mut self, to: &Member, out: &mut Vec<Output>) {
        let connection = ConnectionId(self.next);
        // Accepted connections use the lower half of the ids.
        self.next = if self.next <= u32::MAX / 2 + 1 { u32::MAX } else { self.next - 1 };
        self.links.insert(to.id, Link { connection, is_open: false, waiting: Vec::new() });
        out.push(Output::Connect { connection, host: to.host.clone(), port: to.port });
    }

    pub(crate) fn connected(&mut self, connection: ConnectionId, out: &mut Vec<Output>) {
        let found = self.links.values_mut().find(|link| link.connection == connection);
        if let Some(link) = found {
            link.is_open = true;
            out.push(Output::Send { connection, bytes: Bytes::from_static(GREETING) });
            let waiting = std::mem::take(&mut link.waiting).into_iter();
            out.extend(waiting.map(|bytes| Output::Send { connection, bytes }));
        }
    }

    pub(crate) fn lost(&mut self, connection: ConnectionId) {
        let lost = self.links.iter().find(|(_, link)| link.connection == connection);
        if let Some(member) = lost.map(|(member, _)| *member) {
            self.links.remove(&member);
            self.heard.remove(&member);
        }
    }

    pub(crate) fn note_heard(&mut self, member: u8, now_ms: u64) {
        self.heard.entry(member).or_insert(now_ms);
    }

    pub(crate) fn is_connected_since(&self, member: u8, then_ms: u64) -> bool {
        self.heard.get(&member).is_some_and(|since| *since < then_ms)
    }
}

fn frame(message: &Message) -> Bytes {
    let json = serde_json::to_vec(message).unwrap_or_default();
    let mut bytes = BytesMut::with_capacity(json.len() + 4);
    bytes.put_u32(u32::try_from(json.len()).unwrap_or(u32::MAX));
    bytes.put_slice(&json);
    bytes.freeze()
}

pub(crate) fn take(input: &mut BytesMut) -> Result<Option<Message>, ()> {
    let Some(length) = input.first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_be_bytes(*length) as usize;
    if length > FRAME_MAX {
        return Err(());
    }
    if input.len() < 4 + length {
        return Ok(None);
    }
    input.advance(4);
    let json = input.split_to(length);
    serde_json::from_slice(&json).map(Some).map_err(|_| ())
}
