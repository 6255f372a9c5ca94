use super::event::Event;
use crate::protocol::reply::Reply;
use crate::protocol::request::{Limits, RequestReader};
use bytes::Bytes;
use fencepost_machine::{ConnectionId, Output, Outputs};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const LIMITS: Limits = Limits::of(512 * 1024 * 1024);

#[derive(Debug, Default)]
pub(crate) struct Client {
    pub(crate) id: i64,
    pub(crate) name: Bytes,
    pub(crate) reply: Reply,
    pub(crate) channels: BTreeSet<Bytes>,
    pub(crate) patterns: BTreeSet<Bytes>,
    pub(crate) reader: RequestReader,
    pub(crate) leaving: bool,
}

impl Client {
    pub(crate) fn subscriptions(&self) -> usize {
        self.channels.len() + self.patterns.len()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Clients {
    all: BTreeMap<ConnectionId, Box<Client>>,
    ready: VecDeque<ConnectionId>,
    accepted: i64,
    has_replies: bool,
}

impl Clients {
    pub(crate) fn accepted(&mut self, connection: ConnectionId) {
        self.accepted += 1;
        let client = Client { id: self.accepted, ..Client::default() };
        self.all.insert(connection, Box::new(client));
    }

    pub(crate) fn closed(&mut self, connection: ConnectionId) {
        self.all.remove(&connection);
        self.ready.retain(|waiting| *waiting != connection);
    }

    pub(crate) fn received(&mut self, connection: ConnectionId, bytes: &[u8]) {
        let Some(client) = self.all.get_mut(&connection) else { return };
        client.reader.feed(bytes);
        if !client.reader.complete {
            self.read_commands(connection);
        }
    }

    /// Removes and returns the next client with a request. Give it back to [`Clients::served`].
    pub(crate) fn next(&mut self) -> Option<(ConnectionId, Box<Client>)> {
        let connection = self.ready.pop_front()?;
        self.all.remove_entry(&connection)
    }

    pub(crate) fn served(&mut self, connection: ConnectionId, client: Box<Client>) {
        self.all.insert(connection, client);
        self.has_replies = true;
        self.read_commands(connection);
    }

    pub(crate) fn more(&self) -> bool {
        !self.ready.is_empty()
    }

    pub(crate) fn publish(&mut self, event: &Event) {
        let (channel, message) = (event.channel.as_bytes(), event.message.as_bytes());
        self.has_replies = true;
        for client in self.all.values_mut() {
            if client.channels.contains(channel) {
                let parts: [&[u8]; 3] = [b"message", channel, message];
                client.reply.push(parts.len());
                parts.iter().for_each(|part| client.reply.bulk(part));
            }
            for pattern in client
                .patterns
                .iter()
                .filter(|pattern| crate::data::glob::matches(pattern, channel))
            {
                let parts: [&[u8]; 4] = [b"pmessage", pattern, channel, message];
                client.reply.push(parts.len());
                parts.iter().for_each(|part| client.reply.bulk(part));
            }
        }
    }

    pub(crate) fn flush(&mut self, out: &mut Outputs) {
        out.more = self.more();
        if !std::mem::take(&mut self.has_replies) {
            return;
        }
        let mut left = Vec::new();
        for (connection, client) in &mut self.all {
            if !client.reply.is_empty() {
                out.list.push(Output::Send { connection: *connection, bytes: client.reply.take() });
            }
            if client.leaving {
                out.list.push(Output::Close { connection: *connection });
                left.push(*connection);
            }
        }
        left.into_iter().for_each(|connection| self.closed(connection));
        out.more = self.more();
    }

    fn read_commands(&mut self, connection: ConnectionId) {
        let Some(client) = self.all.get_mut(&connection).filter(|client| !client.leaving) else {
            return;
        };
        match client.reader.advance(LIMITS) {
            Ok(true) => self.ready.push_back(connection),
            Ok(false) => {}
            Err(error) => {
                client.reply.error(&[b"ERR Protocol error: ", error.0.as_slice()].concat());
                client.leaving = true;
                self.has_replies = true;
            }
        }
    }
}
