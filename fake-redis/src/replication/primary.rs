//! A server towards those who follow it: PSYNC, the stream, their acknowledgements (`syncCommand`,
//! `replicationFeedSlaves`).

use super::{BACKLOG_TTL_SECONDS, Replication, seconds};
use crate::client::{ClientKey, Role};
use crate::outgoing::encode_command;
use crate::rdb;
use crate::server::Server;
use bytes::{Bytes, BytesMut};
use fencepost_machine::{ConnectionId, Output};

/// What a client said of itself by REPLCONF.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Introduction {
    /// The port at which it listens.
    pub(crate) port: u16,
    /// The address at which others reach it, if not that of its connection.
    pub(crate) address: Option<String>,
    /// Whether it understands that the id of the history changes (`capa psync2`).
    pub(crate) knows_second_ids: bool,
}

/// A server that follows this one. It is in step from the moment at which its snapshot was sent.
#[derive(Debug)]
pub(super) struct Replica {
    /// Its client.
    pub(super) client: ClientKey,
    /// Its connection.
    pub(super) connection: ConnectionId,
    /// Where it is: what it said, or the host of its connection.
    pub(super) host: String,
    /// At which port.
    pub(super) port: u16,
    /// How much of the stream it has acknowledged.
    pub(super) acknowledged: u64,
    /// How much of it is safe on its disk; 0 if it never said, as without an append-only file and
    /// before 7.2.
    pub(super) synced: u64,
    /// When it last acknowledged, in seconds of the wall clock.
    pub(super) acknowledged_at: i64,
    /// Whether it never acknowledges: it came with SYNC.
    pub(super) silent: bool,
}

/// How a client asks to be a replica.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SyncRequest<'a> {
    /// SYNC: a snapshot, and no acknowledgements.
    Snapshot,
    /// PSYNC: what comes from the byte with this offset on, in the history of this id.
    Continue {
        /// The id, or `?`.
        id: &'a str,
        /// The offset of the first byte that is missing; negative for a snapshot.
        next: i64,
    },
}

impl Replication {
    /// How many replicas acknowledged within that many seconds.
    pub(super) fn good_replicas(&self, lag_max: u32, now_seconds: i64) -> usize {
        let is_good =
            |replica: &&Replica| now_seconds - replica.acknowledged_at <= i64::from(lag_max);
        self.replicas.iter().filter(is_good).count()
    }

    /// What a client said of itself, to be completed.
    pub(crate) fn introduction_mut(&mut self, key: ClientKey) -> &mut Introduction {
        self.introductions.entry(key).or_default()
    }
}

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
        let acknowledged_at = seconds(self.now);
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

    /// All data as a snapshot, with its place in the replication history.
    pub(crate) fn snapshot(&self) -> Bytes {
        let origin = self.replication.origin(self.client(ClientKey::PRIMARY).db);
        let version = self.config.version.text();
        rdb::write(
            &self.keyspace,
            &rdb::About { version, seconds: seconds(self.now), origin: origin.as_ref() },
        )
    }

    /// Takes an effect for the stream to the replicas, with a SELECT before it if its database is
    /// another one.
    pub(crate) fn feed_replicas(&mut self, db: usize, args: &[&[u8]]) {
        if !self.replication.wants_stream() {
            return;
        }
        let mut bytes = BytesMut::new();
        if self.replication.stream_db != Some(db) {
            encode_command(&[b"SELECT", db.to_string().as_bytes()], &mut bytes);
            self.replication.stream_db = Some(db);
        }
        encode_command(args, &mut bytes);
        self.append_to_stream(&bytes);
    }

    /// Appends to the stream; it leaves at the end of the input.
    pub(super) fn append_to_stream(&mut self, bytes: &[u8]) {
        self.replication.history.append(bytes);
        if !self.replication.replicas.is_empty() {
            self.replication.link.stream.extend_from_slice(bytes);
        }
    }

    /// A command that belongs to no database.
    fn feed_without_database(&mut self, args: &[&[u8]]) {
        if self.replication.wants_stream() {
            let mut bytes = BytesMut::new();
            encode_command(args, &mut bytes);
            self.append_to_stream(&bytes);
        }
    }

    /// Sends every replica what the stream has gained.
    pub(super) fn flush_stream(&mut self) {
        if std::mem::take(&mut self.replication.wants_acknowledgements) {
            self.feed_without_database(&[b"REPLCONF", b"GETACK", b"*"]);
        }
        if self.replication.link.stream.is_empty() {
            return;
        }
        let bytes = self.replication.link.stream.split().freeze();
        for replica in &self.replication.replicas {
            self.sends.push(Output::Send { connection: replica.connection, bytes: bytes.clone() });
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
        let now = seconds(self.now);
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
    pub(super) fn check_replicas(&mut self) {
        let due = self
            .replication
            .cron_runs
            .is_multiple_of(u64::from(self.config.repl_ping_period.max(1)));
        if due && !self.replication.replicas.is_empty() && !self.replication.withholds_pings() {
            self.feed_without_database(&[b"PING"]);
        }
        let (now, timeout) = (seconds(self.now), i64::from(self.config.repl_timeout));
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
    pub(super) fn disconnect_replicas(&mut self) {
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
