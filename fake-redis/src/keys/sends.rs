use crate::protocol::reply::Reply;
use crate::state::client::ReplyMode;
use crate::state::client_key::ClientKey;
use crate::state::server::Server;
use bytes::Bytes;
use fencepost_machine::{ConnectionId, Output};

impl Server {
    /// Queues bytes for the server to send after it has written the append-only file.
    pub(crate) fn send(&mut self, connection: ConnectionId, bytes: Bytes) {
        if !bytes.is_empty() {
            self.outbox.send(Output::Send { connection, bytes });
        }
    }

    pub(crate) fn send_reply(&mut self, key: ClientKey, reply: &mut Reply) {
        let client = self.client(key);
        match client.connection {
            Some(connection)
                if matches!(client.reply_mode, ReplyMode::On) || client.was_subscribing() =>
            {
                let bytes = reply.take();
                self.send(connection, bytes);
            }
            _ => reply.truncate(0),
        }
    }

    /// Sends a push message even under CLIENT REPLY OFF (`CLIENT_PUSHING`).
    pub(crate) fn push_to(&mut self, key: ClientKey, bytes: Bytes) {
        let client = self.client(key);
        if let Some(connection) = client.connection {
            self.send(connection, bytes);
        }
    }
}
