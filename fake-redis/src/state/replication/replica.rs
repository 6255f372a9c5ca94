//! Those who follow this server.

use super::Replication;
use crate::config::NodeConfig;
use crate::protocol::outgoing::encode_command;
use crate::state::client_key::ClientKey;
use bytes::{Bytes, BytesMut};
use fencepost_machine::ConnectionId;

/// What a client said of itself by REPLCONF.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Introduction {
    /// The port at which it listens.
    pub(crate) port: u16,
    /// The address at which others reach it, if not that of its connection.
    pub(crate) address: Option<String>,
    /// Whether it understands that the id of the history changes (`capa psync2`).
    pub(crate) knows_second_ids: bool,
    /// Whether it can take a snapshot whose length is not known beforehand (`capa eof`).
    pub(crate) knows_delimiters: bool,
}

/// How far a replica has come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// It waits for a snapshot, since this second of the wall clock (`wait_bgsave`).
    Waits(i64),
    /// It was sent a snapshot, and loads it. What the stream has gained since then is sent with its
    /// first acknowledgement (`repl_start_cmd_stream_on_ack`).
    Loads(BytesMut),
    /// It gets the stream.
    Follows,
}

/// A server that follows this one. It counts as online from the moment at which its snapshot was
/// sent, as in Redis, before it has loaded it.
#[derive(Debug)]
pub(crate) struct Replica {
    /// Its client.
    pub(crate) client: ClientKey,
    /// Its connection.
    pub(crate) connection: ConnectionId,
    /// Where it is: what it said, or the host of its connection.
    pub(crate) host: String,
    /// At which port.
    pub(crate) port: u16,
    /// How much of the stream it has acknowledged.
    pub(crate) acknowledged: u64,
    /// How much of it is safe on its disk; 0 if it never said, as without an append-only file and
    /// before 7.2.
    pub(crate) synced: u64,
    /// When it last acknowledged, in seconds of the wall clock.
    pub(crate) acknowledged_at: i64,
    /// Whether it never acknowledges: it came with SYNC.
    pub(crate) silent: bool,
    /// How far it has come.
    pub(crate) progress: Progress,
}

impl Replica {
    /// Whether it was sent all data.
    pub(crate) fn is_online(&self) -> bool {
        !matches!(self.progress, Progress::Waits(_))
    }
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
    /// Those who follow this server, in the order in which they came.
    pub(crate) fn replicas(&self) -> &[Replica] {
        &self.replicas
    }

    /// What a client said of itself.
    pub(crate) fn introduction(&self, key: ClientKey) -> Introduction {
        self.introductions.get(&key).cloned().unwrap_or_default()
    }

    /// What a client said of itself, to be completed.
    pub(crate) fn introduction_mut(&mut self, key: ClientKey) -> &mut Introduction {
        self.introductions.entry(key).or_default()
    }

    /// Somebody follows this server from now on.
    pub(crate) fn add_replica(&mut self, replica: Replica) {
        self.replicas.push(replica);
    }

    /// A client is gone, and with it what it waited for and what it was as a replica. Returns
    /// whether it was one.
    pub(crate) fn forget_client(&mut self, key: ClientKey, now_seconds: i64) -> bool {
        self.introductions.remove(&key);
        self.waiting.retain(|waiting| waiting.client != key);
        let before = self.replicas.len();
        self.replicas.retain(|replica| replica.client != key);
        let was_replica = before > self.replicas.len();
        if was_replica && self.replicas.is_empty() {
            self.no_replicas_since = now_seconds;
        }
        was_replica
    }

    /// How many replicas acknowledged lately, when they were last counted.
    pub(crate) fn good_replicas(&self) -> usize {
        self.good_replicas
    }

    /// Counts the replicas that acknowledged lately. The age is counted in whole seconds, and the
    /// count stands until the next one: a write is not judged by its own instant
    /// (`refreshGoodSlavesCount`).
    pub(crate) fn count_good_replicas(&mut self, config: &NodeConfig, now_seconds: i64) {
        if config.min_replicas_to_write == 0 || config.min_replicas_max_lag == 0 {
            return;
        }
        let lag_max = i64::from(config.min_replicas_max_lag);
        let is_good = |replica: &&Replica| {
            replica.is_online() && now_seconds - replica.acknowledged_at <= lag_max
        };
        self.good_replicas = self.replicas.iter().filter(is_good).count();
    }

    /// Whether enough replicas acknowledged lately for writes to be taken
    /// (`min-replicas-to-write`).
    pub(crate) fn has_enough_replicas(&self, config: &NodeConfig) -> bool {
        config.min_replicas_max_lag == 0
            || self.good_replicas >= config.min_replicas_to_write as usize
    }

    /// Replicas that have not acknowledged anything for longer than this many seconds.
    pub(crate) fn lost_replicas(&self, now_seconds: i64, timeout: i64) -> Vec<ClientKey> {
        let is_lost = |replica: &&Replica| {
            replica.is_online()
                && !replica.silent
                && now_seconds - replica.acknowledged_at > timeout
        };
        self.replicas.iter().filter(is_lost).map(|replica| replica.client).collect()
    }

    /// Whether anybody waits for a snapshot.
    pub(crate) fn is_snapshot_wanted(&self) -> bool {
        self.replicas.iter().any(|replica| !replica.is_online())
    }

    /// A snapshot is about to be taken for a new replica, which does not know which database the
    /// stream has selected. A replica's own replicas get its primary's stream as it is, and so have
    /// to be told which database that has selected.
    pub(crate) fn begin_snapshot(&mut self) {
        if !self.is_replica() {
            self.stream_db = None;
        }
    }

    /// Those who wait for a snapshot are sent it, each as `send` does it: that returns whether the
    /// replica has to acknowledge it before it is sent the stream.
    pub(crate) fn share_snapshot(
        &mut self,
        now_seconds: i64,
        mut send: impl FnMut(&Replica, &Introduction) -> bool,
    ) {
        for replica in self.replicas.iter_mut().filter(|replica| !replica.is_online()) {
            let introduction = self.introductions.get(&replica.client);
            let loads = send(replica, introduction.unwrap_or(&Introduction::default()));
            replica.acknowledged_at = now_seconds;
            replica.progress =
                if loads { Progress::Loads(BytesMut::new()) } else { Progress::Follows };
        }
    }

    /// A replica says how much of the stream it has processed, and perhaps how much of it is on its
    /// disk. Returns whether it is one, and what was held back for it while it loaded.
    pub(crate) fn acknowledge(
        &mut self,
        key: ClientKey,
        (offset, synced): (u64, Option<u64>),
        now_seconds: i64,
    ) -> Option<(ConnectionId, BytesMut)> {
        let replica = self.replicas.iter_mut().find(|replica| replica.client == key)?;
        replica.acknowledged = replica.acknowledged.max(offset);
        replica.synced = replica.synced.max(synced.unwrap_or(0));
        replica.acknowledged_at = now_seconds;
        let held = match std::mem::replace(&mut replica.progress, Progress::Follows) {
            Progress::Loads(held) => held,
            progress => {
                replica.progress = progress;
                BytesMut::new()
            }
        };
        Some((replica.connection, held))
    }
}

impl Replication {
    /// Takes an effect for the stream to the replicas, with a SELECT before it if its database is
    /// another one.
    pub(crate) fn feed(&mut self, db: usize, args: &[&[u8]]) {
        if !self.wants_stream() {
            return;
        }
        let mut bytes = BytesMut::new();
        if self.stream_db != Some(db) {
            encode_command(&[b"SELECT", db.to_string().as_bytes()], &mut bytes);
            self.stream_db = Some(db);
        }
        encode_command(args, &mut bytes);
        self.append_to_stream(&bytes);
    }

    /// A command that belongs to no database.
    pub(crate) fn feed_without_database(&mut self, args: &[&[u8]]) {
        if self.wants_stream() {
            let mut bytes = BytesMut::new();
            encode_command(args, &mut bytes);
            self.append_to_stream(&bytes);
        }
    }

    /// Appends to the stream; it leaves at the end of the input.
    pub(super) fn append_to_stream(&mut self, bytes: &[u8]) {
        self.history.append(bytes);
        if !self.replicas.is_empty() {
            self.gained.extend_from_slice(bytes);
        }
    }

    /// Whether the stream has gained anything that the replicas have not been sent. Asks them for
    /// acknowledgements first, if those are wanted.
    #[inline]
    pub(crate) fn has_gained(&mut self) -> bool {
        if std::mem::take(&mut self.wants_acknowledgements) {
            self.feed_without_database(&[b"REPLCONF", b"GETACK", b"*"]);
        }
        !self.gained.is_empty()
    }

    /// Hands every replica what the stream has gained; who loads its snapshot is sent it later.
    pub(crate) fn share_gained(&mut self, mut send: impl FnMut(ConnectionId, Bytes)) {
        let bytes = self.gained.split().freeze();
        for replica in &mut self.replicas {
            match &mut replica.progress {
                Progress::Waits(_) => {}
                Progress::Loads(held) => held.extend_from_slice(&bytes),
                Progress::Follows => send(replica.connection, bytes.clone()),
            }
        }
    }
}
