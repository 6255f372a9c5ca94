//! A server towards those who follow it: PSYNC, the stream, their acknowledgements (`syncCommand`,
//! `replicationFeedSlaves`).

use crate::state::client::Role;
use crate::state::client_key::ClientKey;
use crate::state::replication::{BACKLOG_TTL_SECONDS, Introduction, Replica, SyncRequest};
use crate::state::server::Server;
use bytes::{Bytes, BytesMut};
use fencepost_machine::{ConnectionId, Output};

impl Server {
    /// Why nobody can follow this server just now: it has no data of its own to be sure of.
    pub(crate) fn cannot_be_followed(&self) -> bool {
        self.is_replica() && !self.replication.is_link_up()
    }

    /// Makes a client a replica: sends what it misses if that is known, a snapshot if not.
    pub(crate) fn attach_replica(&mut self, key: ClientKey, request: SyncRequest<'_>) {
        let Some(connection) = self.client(key).connection else { return };
        // What the others have not been sent yet must not reach the new one twice.
        self.flush_stream();
        let introduction = self.replication.introductions.get(&key).cloned().unwrap_or_default();
        let missed = match request {
            SyncRequest::Continue { id, next } => {
                u64::try_from(next).ok().and_then(|next| self.replication.history.since(id, next))
            }
            SyncRequest::Snapshot => None,
        };
        match missed {
            Some(missed) => self.send_missed(connection, &introduction, missed),
            None => self.send_snapshot(connection, request != SyncRequest::Snapshot),
        }
        self.add_replica(key, connection, introduction, request == SyncRequest::Snapshot);
    }

    fn add_replica(
        &mut self,
        key: ClientKey,
        connection: ConnectionId,
        said: Introduction,
        silent: bool,
    ) {
        let client = self.client_mut(key);
        client.role = Role::Replica;
        let host = said.address.unwrap_or_else(|| host_of(&client.peer).to_owned());
        let acknowledged_at = self.clock.seconds();
        let port = said.port;
        let replica = Replica {
            client: key,
            connection,
            host,
            port,
            acknowledged: 0,
            synced: 0,
            acknowledged_at,
            silent,
        };
        self.replication.replicas.push(replica);
        self.schedule_replication();
    }

    fn send_missed(
        &mut self,
        connection: ConnectionId,
        introduction: &Introduction,
        missed: Bytes,
    ) {
        let id = if introduction.knows_second_ids {
            format!(" {}", self.replication.history.id())
        } else {
            String::new()
        };
        self.send(connection, Bytes::from(format!("+CONTINUE{id}\r\n")));
        self.send(connection, missed);
    }

    /// Sends a snapshot. Redis forks for it; here it is taken and sent at once
    /// (`repl-diskless-sync-delay 0`), in the form that states its length.
    fn send_snapshot(&mut self, connection: ConnectionId, wants_header: bool) {
        if !self.replication.history.has_backlog() {
            let id = self.random.hexadecimal(40);
            self.replication.history.begin(id, self.config.backlog_size);
        }
        let history = &self.replication.history;
        if wants_header {
            let header = format!("+FULLRESYNC {} {}\r\n", history.id(), history.offset());
            self.send(connection, Bytes::from(header));
        }
        // The new replica does not know which database the stream has selected. A replica's own
        // replicas get its primary's stream as it is, and so have to be told which database that
        // has selected.
        if !self.is_replica() {
            self.replication.stream_db = None;
        }
        let payload = self.snapshot();
        let mut message = BytesMut::from(format!("${}\r\n", payload.len()).as_bytes());
        message.extend_from_slice(&payload);
        self.send(connection, message.freeze());
    }

    /// Sends every replica what the stream has gained.
    pub(crate) fn flush_stream(&mut self) {
        if std::mem::take(&mut self.replication.wants_acknowledgements) {
            self.replication.feed_without_database(&[b"REPLCONF", b"GETACK", b"*"]);
        }
        if self.replication.link.stream.is_empty() {
            return;
        }
        let bytes = self.replication.link.stream.split().freeze();
        for replica in &self.replication.replicas {
            self.outbox.send(Output::Send { connection: replica.connection, bytes: bytes.clone() });
        }
    }

    /// A replica says how much of the stream it has processed (`REPLCONF ACK`), and perhaps how
    /// much of it is on its disk (`FACK`).
    pub(crate) fn take_acknowledgement(
        &mut self,
        key: ClientKey,
        offset: u64,
        synced: Option<u64>,
    ) {
        let now = self.clock.seconds();
        let Some(replica) =
            self.replication.replicas.iter_mut().find(|replica| replica.client == key)
        else {
            return;
        };
        replica.acknowledged = replica.acknowledged.max(offset);
        replica.synced = replica.synced.max(synced.unwrap_or(0));
        replica.acknowledged_at = now;
        self.serve_waiting();
    }

    /// Once a second: pings the replicas, gives up those that are silent, and forgets a backlog
    /// that nobody needs (`replicationCron`).
    pub(crate) fn check_replicas(&mut self) {
        let due = self
            .replication
            .cron_runs
            .is_multiple_of(u64::from(self.config.repl_ping_period.max(1)));
        if due && !self.replication.replicas.is_empty() && !self.replication.withholds_pings() {
            self.replication.feed_without_database(&[b"PING"]);
        }
        let (now, timeout) = (self.clock.seconds(), i64::from(self.config.repl_timeout));
        let is_lost =
            |replica: &&Replica| !replica.silent && now - replica.acknowledged_at > timeout;
        let lost: Vec<ClientKey> = self
            .replication
            .replicas
            .iter()
            .filter(is_lost)
            .map(|replica| replica.client)
            .collect();
        lost.into_iter().for_each(|key| self.disconnect(key));
        let alone = self.replication.replicas.is_empty() && !self.is_replica();
        if alone
            && self.replication.history.has_backlog()
            && now - self.replication.no_replicas_since > BACKLOG_TTL_SECONDS
        {
            let id = self.random.hexadecimal(40);
            self.replication.history.forget(id);
        }
    }

    /// Disconnects all replicas, which will come back and ask anew.
    pub(crate) fn disconnect_replicas(&mut self) {
        self.flush_stream();
        let all: Vec<ClientKey> =
            self.replication.replicas.iter().map(|replica| replica.client).collect();
        all.into_iter().for_each(|key| self.disconnect(key));
    }
}

/// The host of `host:port`.
fn host_of(peer: &str) -> &str {
    peer.rsplit_once(':').map_or(peer, |(host, _)| host)
}
