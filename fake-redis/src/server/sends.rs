//! What leaves a server at the end of an input, and in which order.

use super::Server;
use crate::client::{ClientKey, ReplyMode};
use crate::reply::Reply;
use bytes::Bytes;
use fencepost_machine::{ConnectionId, Output};

impl Server {
    /// Queues a message for a connection. It leaves at the end of the input, after the append-only
    /// file was written.
    pub(crate) fn send(&mut self, connection: ConnectionId, bytes: Bytes) {
        if !bytes.is_empty() {
            self.sends.push(Output::Send { connection, bytes });
        }
    }

    /// Sends what a command wrote to its client, unless CLIENT REPLY silenced it.
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

    /// Sends a message that is no reply, such as one of a channel, to a client. CLIENT REPLY does
    /// not silence those (`CLIENT_PUSHING`).
    pub(crate) fn push_to(&mut self, key: ClientKey, bytes: Bytes) {
        let client = self.client(key);
        if let Some(connection) = client.connection {
            self.send(connection, bytes);
        }
    }

    /// Ends what was done in the middle of a script: that promises nothing which would have to be
    /// written first.
    pub(crate) fn finish_interlude(&mut self) {
        self.release_sends();
        self.outputs.more = !self.ready.is_empty() && self.asleep_until.is_none();
    }

    /// Ends an input: writes the append-only file, then lets the messages go unless something holds
    /// them back.
    pub(crate) fn finish_input(&mut self) {
        if self.ready.is_empty() {
            self.broadcast_changes();
        }
        self.flush_append_only();
        self.flush_replication();
        if self.asleep_until.is_none() {
            self.release_sends();
        }
        self.outputs.more = !self.ready.is_empty() && self.asleep_until.is_none();
        self.outputs.stopped = self.stopped;
        if self.stopped {
            return;
        }
        if let Some(micros) = self.timers.rearm(self.now) {
            self.outputs.list.push(Output::WakeAfter { micros });
        }
    }
}
