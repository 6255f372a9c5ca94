//! Those who follow this server.

use super::Replication;
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
}

/// A server that follows this one. It is in step from the moment at which its snapshot was sent.
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
    pub(crate) fn good_replicas(&self, lag_max: u32, now_seconds: i64) -> usize {
        let is_good =
            |replica: &&Replica| now_seconds - replica.acknowledged_at <= i64::from(lag_max);
        self.replicas.iter().filter(is_good).count()
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
