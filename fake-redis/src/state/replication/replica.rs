//! Those who follow this server.

use super::Replication;
use crate::config::NodeConfig;
use crate::protocol::outgoing::encode_command;
use crate::state::client_key::ClientKey;
use bytes::BytesMut;
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

    /// What a client said of itself, to be completed.
    pub(crate) fn introduction_mut(&mut self, key: ClientKey) -> &mut Introduction {
        self.introductions.entry(key).or_default()
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

    /// Appends to the stream; it leaves at the end of the input.
    pub(crate) fn append_to_stream(&mut self, bytes: &[u8]) {
        self.history.append(bytes);
        if !self.replicas.is_empty() {
            self.link.stream.extend_from_slice(bytes);
        }
    }

    /// A command that belongs to no database.
    pub(crate) fn feed_without_database(&mut self, args: &[&[u8]]) {
        if self.wants_stream() {
            let mut bytes = BytesMut::new();
            encode_command(args, &mut bytes);
            self.append_to_stream(&bytes);
        }
    }
}
