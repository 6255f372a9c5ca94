use crate::config::RedisVersion;
use crate::state::client_key::ClientKey;
use crate::state::replication::Stage;
use crate::state::server::Server;
use fencepost_machine::Output;

impl Server {
    pub(crate) fn connect_to_primary(&mut self) {
        self.replication.connect(self.clock.seconds(), self.outbox.outputs());
    }

    pub(crate) fn drop_link(&mut self) {
        if let Some(connection) = self.replication.take_outgoing() {
            self.outbox.send(Output::Close { connection });
        }
        self.link_lost();
    }

    /// Handles the loss of the link, and discards an incomplete transaction.
    pub(crate) fn link_lost(&mut self) {
        if self.replication.lose_link(self.clock.seconds()) {
            self.discard_transaction(ClientKey::PRIMARY);
        }
    }

    pub(crate) fn check_link(&mut self) {
        if !self.is_replica() {
            return;
        }
        let silent_for = self.replication.silent_for(self.clock.seconds());
        if !matches!(self.replication.stage(), Stage::Unconnected)
            && silent_for > i64::from(self.config.repl_timeout)
        {
            self.drop_link();
        }
        self.connect_to_primary();
    }

    /// Sends the applied offset and, since 7.2, the synced offset if known (`replicationSendAck`).
    pub(crate) fn acknowledge(&mut self) {
        let offset = self.replication.offset().to_string();
        let synced =
            self.persistence.synced_offset().filter(|_| self.config.version >= RedisVersion::V7_2);
        let synced = synced.map(|synced| synced.to_string());
        if let Some(outgoing) = self.replication.streaming() {
            let mut words: Vec<&[u8]> = vec![b"REPLCONF", b"ACK", offset.as_bytes()];
            if let Some(synced) = &synced {
                words.extend([b"FACK", synced.as_bytes()]);
            }
            outgoing.command_without_reply(&words);
        }
    }

    pub(crate) fn begin_streaming(&mut self) {
        self.replication.begin_streaming(self.config.backlog_size);
    }
}
