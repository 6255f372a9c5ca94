use crate::protocol::request::Limits;
use crate::state::client_key::ClientKey;
use crate::state::server::Server;
use bytes::Bytes;
use fencepost_machine::{ConnectionId, Output};

impl Server {
    pub(crate) fn accept(&mut self, connection: ConnectionId, peer: &str) {
        self.statistics.connections_received += 1;
        if self.roster.connected_count() >= self.config.max_clients {
            self.statistics.connections_rejected += 1;
            self.send(connection, Bytes::from_static(b"-ERR max number of clients reached\r\n"));
            self.outbox.send(Output::Close { connection });
            return;
        }
        let key = self.roster.connect(connection, peer, self.clock.now);
        let needs_password = self.config.requirepass.is_some();
        self.client_mut(key).authenticated = !needs_password;
    }

    #[inline(always)]
    pub(crate) fn receive(&mut self, connection: ConnectionId, bytes: &[u8]) {
        let Some(key) = self.roster.client_of(connection) else { return };
        let limit = self.config.client_query_buffer_limit;
        let client = self.client_mut(key);
        client.reader.feed(bytes);
        if client.reader.pending() > limit {
            self.disconnect(key);
            return;
        }
        if client.service.may_read() {
            self.read_command(key);
        }
    }

    pub(crate) fn read_command(&mut self, key: ClientKey) {
        let limits = self.limits_of(key);
        let client = self.client_mut(key);
        match client.reader.advance(limits) {
            Ok(false) => {}
            Ok(true) => self.roster.queue(key),
            Err(error) => {
                let mut reply = self.spares.reply();
                reply.error(&[b"ERR Protocol error: ", &*error.0].concat());
                self.send_reply(key, &mut reply);
                self.spares.keep_reply(reply);
                self.close_after_replies(key);
            }
        }
    }

    fn limits_of(&self, key: ClientKey) -> Limits {
        let unauthenticated = self.config.requirepass.is_some() && !self.client(key).authenticated;
        Limits { unauthenticated, ..Limits::of(self.config.proto_max_bulk_len) }
    }

    pub(crate) fn close_after_replies(&mut self, key: ClientKey) {
        let client = self.client_mut(key);
        client.service.close();
        if let Some(connection) = client.connection {
            self.outbox.send(Output::Close { connection });
            self.forget_client(key);
        }
    }

    pub(crate) fn disconnect(&mut self, key: ClientKey) {
        if self.turn.acting == Some(key) {
            self.client_mut(key).service.close();
        } else {
            self.close_after_replies(key);
        }
    }

    pub(crate) fn stop(&mut self) {
        self.life.is_over = true;
        let served = [self.turn.acting, self.long_script.running.map(|busy| busy.caller)];
        let mut all: Vec<ClientKey> = self.roster.connected().collect();
        all.retain(|key| !served.contains(&Some(*key)));
        all.into_iter().for_each(|key| self.close_after_replies(key));
        served.into_iter().flatten().for_each(|key| self.client_mut(key).service.close());
        self.roster.clear_ready();
        if self.long_script.running.is_some() {
            self.changes.forget();
        }
    }

    pub(crate) fn closed_by_peer(&mut self, connection: ConnectionId) {
        if let Some(key) = self.roster.client_of(connection) {
            self.forget_client(key);
        }
    }

    pub(crate) fn forget_client(&mut self, key: ClientKey) {
        let client = self.roster.remove(key);
        self.watches.forget(key, client.watching());
        self.pubsub.forget(key, client.subscriptions());
        self.blocking.forget(key);
        self.forget_replica(key);
    }
}
