//! Those who ask Sentinel where the primary is, and those who wait to be told.

use super::event::Event;
use crate::protocol::reply::Reply;
use crate::protocol::request::{Limits, RequestReader};
use bytes::Bytes;
use fencepost_machine::{ConnectionId, Output, Outputs};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a client of Sentinel may send.
const LIMITS: Limits = Limits::of(512 * 1024 * 1024);

/// A client's connection.
#[derive(Debug, Default)]
pub(crate) struct Client {
    /// Its number, as CLIENT ID tells it.
    pub(crate) id: i64,
    /// Its name, as CLIENT SETNAME gave it.
    pub(crate) name: Bytes,
    /// What it is about to be sent.
    pub(crate) reply: Reply,
    /// The channels it hears.
    pub(crate) channels: BTreeSet<Bytes>,
    /// The patterns of channels it hears.
    pub(crate) patterns: BTreeSet<Bytes>,
    /// What it has sent.
    pub(crate) reader: RequestReader,
    /// Whether it is to be disconnected after the reply.
    pub(crate) leaving: bool,
}

impl Client {
    /// How many channels and patterns it hears.
    pub(crate) fn subscriptions(&self) -> usize {
        self.channels.len() + self.patterns.len()
    }
}

/// All clients, in the order of their connection ids.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    all: BTreeMap<ConnectionId, Box<Client>>,
    ready: VecDeque<ConnectionId>,
    accepted: i64,
    /// Whether anything was written to anyone since it was last sent.
    has_replies: bool,
}

impl Clients {
    /// A client connected.
    pub(crate) fn accepted(&mut self, connection: ConnectionId) {
        self.accepted += 1;
        let client = Client { id: self.accepted, ..Client::default() };
        self.all.insert(connection, Box::new(client));
    }

    /// A client is gone.
    pub(crate) fn closed(&mut self, connection: ConnectionId) {
        self.all.remove(&connection);
        self.ready.retain(|waiting| *waiting != connection);
    }

    /// A client sent something. If that completes a command, it waits for its turn.
    pub(crate) fn received(&mut self, connection: ConnectionId, bytes: &[u8]) {
        let Some(client) = self.all.get_mut(&connection) else { return };
        client.reader.feed(bytes);
        if !client.reader.is_complete() {
            self.understand(connection);
        }
    }

    /// The next client whose command is to be served, taken out; hand it back with
    /// [`Clients::served`].
    pub(crate) fn next(&mut self) -> Option<(ConnectionId, Box<Client>)> {
        let connection = self.ready.pop_front()?;
        self.all.remove_entry(&connection)
    }

    /// Takes a client back whose command was served. Its next one waits behind those of others.
    pub(crate) fn served(&mut self, connection: ConnectionId, client: Box<Client>) {
        self.all.insert(connection, client);
        self.has_replies = true;
        self.understand(connection);
    }

    /// Whether a complete command waits.
    pub(crate) fn more(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Tells an event to those who hear its channel (`pubsubPublishMessage`).
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

    /// Sends what was written, and disconnects those who are to leave.
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

    fn understand(&mut self, connection: ConnectionId) {
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
