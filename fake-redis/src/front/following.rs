//! What the primary sends, and the stream that is applied command by command.

use crate::protocol::request::Limits;
use crate::state::client_key::ClientKey;
use crate::state::replication::Stage;
use crate::state::server::Server;
use fencepost_machine::ConnectionId;

impl Server {
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
        self.replication.link.heard_at = self.clock.seconds();
        if let Some(outgoing) = &mut self.replication.link.outgoing {
            outgoing.receive(bytes);
        }
        self.read_link();
        true
    }

    /// Reads on in what the primary sent, unless the server sleeps.
    pub(crate) fn read_link(&mut self) {
        if self.life.is_asleep() {
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
        self.outbox.count_command();
        // The command itself may have ended the link.
        if !self.replication.link.is_up() {
            return;
        }
        let link = &mut self.replication.link;
        link.reader.give_back(request);
        let applied = link.unapplied.len() - link.reader.pending();
        if !self.client(ClientKey::PRIMARY).transaction.is_open() {
            let bytes = self.replication.link.unapplied.split_to(applied);
            self.replication.append_to_stream(&bytes);
        }
    }
}
