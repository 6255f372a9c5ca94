//! Handles a replica's connection to its primary, and applies the stream command by command.

use crate::protocol::request::Request;
use crate::state::client_key::ClientKey;
use crate::state::replication::Stage;
use crate::state::server::Server;
use fencepost_machine::ConnectionId;

impl Server {
    pub(crate) fn outgoing_connected(&mut self, connection: ConnectionId) {
        if self.replication.is_link(connection) {
            self.begin_handshake();
        }
    }

    pub(crate) fn outgoing_failed(&mut self, connection: ConnectionId) {
        if self.replication.is_link(connection) {
            self.link_lost();
        }
    }

    /// Reconnects immediately after losing an established link. The cron reopens other links.
    pub(crate) fn outgoing_closed(&mut self, connection: ConnectionId) {
        if !self.replication.is_link(connection) {
            return;
        }
        let was_in_use = matches!(self.replication.stage(), Stage::Streaming | Stage::Transfer(_));
        self.link_lost();
        if was_in_use {
            self.connect_to_primary();
        }
    }

    pub(crate) fn outgoing_received(&mut self, connection: ConnectionId, bytes: &[u8]) -> bool {
        if !self.replication.is_link(connection) {
            return false;
        }
        self.replication.receive_from_primary(bytes, self.clock.seconds());
        self.read_link();
        true
    }

    pub(crate) fn read_link(&mut self) {
        if self.life.is_asleep {
            return;
        }
        if matches!(self.replication.stage(), Stage::Handshake) {
            self.read_handshake();
        }
        if matches!(self.replication.stage(), Stage::Transfer(_)) {
            self.read_transfer();
        }
        if matches!(self.replication.stage(), Stage::Streaming) {
            self.read_stream();
        }
    }

    /// Applies received commands. The offset advances once per transaction (`commandProcessed`).
    fn read_stream(&mut self) {
        self.replication.read_received();
        while self.replication.is_link_up() {
            match self.replication.next_command() {
                Ok(Some(request)) => self.apply_next(request),
                Ok(None) => return,
                Err(_) => {
                    self.drop_link();
                    self.connect_to_primary();
                }
            }
        }
    }

    fn apply_next(&mut self, request: Request) {
        let words: Vec<&[u8]> = request.args().iter().collect();
        self.apply_replicated(&words);
        self.outbox.outputs.commands += 1;
        if self.replication.is_link_up() {
            self.replication.give_back(request);
            if !self.client(ClientKey::PRIMARY).transaction.is_open() {
                self.replication.forward_applied();
            }
        }
    }
}
