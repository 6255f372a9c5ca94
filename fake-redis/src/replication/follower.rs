//! A replica's connection to its primary, and the stream that it applies.

use super::{handshake::Step, seconds, transfer::Transfer};
use crate::client::ClientKey;
use crate::config::RedisVersion;
use crate::outgoing::Outgoing;
use crate::request::{Limits, RequestReader};
use crate::server::Server;
use bytes::BytesMut;
use fencepost_machine::{ConnectionId, Output};

/// How far the connection to the primary is (`REPL_STATE_*`).
#[derive(Debug, Default)]
pub(super) enum Stage {
    /// There is none; the cron will try.
    #[default]
    Unconnected,
    /// It is being opened.
    Connecting,
    /// Both introduce themselves.
    Handshake,
    /// The snapshot is on its way.
    Transfer(Transfer),
    /// The stream is applied.
    Streaming,
}

/// The connection to the primary, and what has gathered of the stream to our own replicas.
#[derive(Debug, Default)]
pub(super) struct Link {
    /// How far it is.
    pub(super) stage: Stage,
    /// The connection.
    pub(super) outgoing: Option<Outgoing<Step>>,
    /// When the primary last sent anything, in seconds of the wall clock.
    pub(super) heard_at: i64,
    /// What was received of the stream and not applied.
    reader: RequestReader,
    /// The same, as it came, to be passed on once it is applied.
    unapplied: BytesMut,
    /// What the stream has gained for our own replicas in this input.
    pub(super) stream: BytesMut,
}

impl Link {
    /// Whether the stream is applied.
    pub(super) fn is_up(&self) -> bool {
        matches!(self.stage, Stage::Streaming)
    }

    /// What is to be sent to the primary.
    pub(super) fn take_message(&mut self) -> Option<Output> {
        self.outgoing.as_mut()?.take_message()
    }

    /// Whether a connection is the one to the primary.
    fn is(&self, connection: ConnectionId) -> bool {
        self.outgoing.as_ref().is_some_and(|outgoing| outgoing.id == connection)
    }
}

impl Server {
    /// Opens a connection to the primary if there is to be one and there is none
    /// (`connectWithMaster`).
    pub(super) fn connect_to_primary(&mut self) {
        let Some((host, port)) = self.replication.primary.clone() else { return };
        if !matches!(self.replication.link.stage, Stage::Unconnected) {
            return;
        }
        let outgoing = Outgoing::connect(&mut self.replication.ids, &host, port, &mut self.outputs);
        self.replication.link.outgoing = Some(outgoing);
        self.replication.link.stage = Stage::Connecting;
        self.replication.link.heard_at = seconds(self.now);
    }

    /// Closes the connection to the primary, if there is one, and forgets what came over it and was
    /// not applied.
    pub(super) fn drop_link(&mut self) {
        if let Some(outgoing) = self.replication.link.outgoing.take() {
            self.sends.push(Output::Close { connection: outgoing.id });
        }
        self.link_lost();
    }

    /// The link is gone. What was applied stays valid, so that the primary may be asked to go on
    /// from there (`replicationCacheMaster`).
    fn link_lost(&mut self) {
        let link = &mut self.replication.link;
        let was_up = link.is_up();
        link.outgoing = None;
        link.stage = Stage::Unconnected;
        link.reader = RequestReader::default();
        link.unapplied.clear();
        if was_up {
            self.replication.down_since = Some(seconds(self.now));
            self.discard_transaction(ClientKey::PRIMARY);
        }
    }

    /// A connection that this server asked for is open.
    pub(crate) fn outgoing_connected(&mut self, connection: ConnectionId) {
        if self.replication.link.is(connection) {
            self.begin_handshake();
        }
    }

    /// A connection that this server asked for could not be opened: the cron tries again.
    pub(crate) fn outgoing_failed(&mut self, connection: ConnectionId) {
        if self.replication.link.is(connection) {
            self.link_lost();
        }
    }

    /// A connection that no client opened was closed. A link that was in use is opened again at
    /// once, any other by the cron.
    pub(crate) fn outgoing_closed(&mut self, connection: ConnectionId) {
        if !self.replication.link.is(connection) {
            return;
        }
        let was_in_use =
            matches!(self.replication.link.stage, Stage::Streaming | Stage::Transfer(_));
        self.link_lost();
        if was_in_use {
            self.connect_to_primary();
        }
    }

    /// Bytes arrived on a connection that no client opened; false if it is none of replication's.
    pub(crate) fn outgoing_received(&mut self, connection: ConnectionId, bytes: &[u8]) -> bool {
        if !self.replication.link.is(connection) {
            return false;
        }
        self.replication.link.heard_at = seconds(self.now);
        if let Some(outgoing) = &mut self.replication.link.outgoing {
            outgoing.receive(bytes);
        }
        self.read_link();
        true
    }

    /// Reads on in what the primary sent, unless the server sleeps.
    pub(crate) fn read_link(&mut self) {
        if self.asleep_until.is_some() {
            return;
        }
        if matches!(self.replication.link.stage, Stage::Handshake) {
            self.read_handshake();
        }
        if matches!(self.replication.link.stage, Stage::Transfer(_)) {
            self.read_transfer();
        }
        if matches!(self.replication.link.stage, Stage::Streaming) {
            self.read_stream();
        }
    }

    /// Once a second: gives up a silent primary and connects if there is no connection
    /// (`replicationCron`).
    pub(super) fn check_link(&mut self) {
        if !self.is_replica() {
            return;
        }
        let silent_for = seconds(self.now) - self.replication.link.heard_at;
        if !matches!(self.replication.link.stage, Stage::Unconnected)
            && silent_for > i64::from(self.config.repl_timeout)
        {
            self.drop_link();
        }
        self.connect_to_primary();
    }

    /// Tells the primary how much was applied and, from 7.2 on, how much of it is on disk if there
    /// is an append-only file (`replicationSendAck`).
    pub(crate) fn acknowledge(&mut self) {
        let offset = self.replication.offset().to_string();
        let synced =
            self.persistence.synced_offset().filter(|_| self.config.version >= RedisVersion::V7_2);
        let synced = synced.map(|synced| synced.to_string());
        let link = &mut self.replication.link;
        if let (true, Some(outgoing)) = (link.is_up(), &mut link.outgoing) {
            let mut words: Vec<&[u8]> = vec![b"REPLCONF", b"ACK", offset.as_bytes()];
            if let Some(synced) = &synced {
                words.extend([b"FACK", synced.as_bytes()]);
            }
            outgoing.command_without_reply(&words);
        }
    }

    /// Applies the complete commands among what the primary sent. A transaction counts once it is
    /// complete, as in `commandProcessed`.
    fn read_stream(&mut self) {
        let link = &mut self.replication.link;
        if let Some(outgoing) = &mut link.outgoing {
            let bytes = outgoing.undecoded().split();
            link.reader.feed(&bytes);
            link.unapplied.extend_from_slice(&bytes);
        }
        let limits = Limits::of(usize::MAX);
        while self.replication.link.is_up() {
            match self.replication.link.reader.advance(limits) {
                Ok(true) => self.apply_next(),
                Ok(false) => return,
                Err(_) => {
                    self.drop_link();
                    self.connect_to_primary();
                }
            }
        }
    }

    fn apply_next(&mut self) {
        let request = self.replication.link.reader.take();
        let words: Vec<&[u8]> = request.args().iter().collect();
        self.apply_replicated(&words);
        self.outputs.commands += 1;
        // The command itself may have ended the link.
        if !self.replication.link.is_up() {
            return;
        }
        let link = &mut self.replication.link;
        link.reader.give_back(request);
        let applied = link.unapplied.len() - link.reader.pending();
        if !self.client(ClientKey::PRIMARY).transaction.open {
            let bytes = self.replication.link.unapplied.split_to(applied);
            self.append_to_stream(&bytes);
        }
    }

    /// The stream begins, after a snapshot or right away.
    pub(super) fn begin_streaming(&mut self) {
        self.replication.history.keep(self.config.backlog_size);
        self.replication.link.stage = Stage::Streaming;
        self.replication.down_since = None;
        self.replication.may_continue = true;
    }
}
