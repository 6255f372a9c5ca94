use super::Replication;
use crate::config::NodeConfig;
use crate::protocol::outgoing::encode_command;
use crate::state::client_key::ClientKey;
use bytes::{Bytes, BytesMut};
use fencepost_machine::ConnectionId;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Introduction {
    pub(crate) port: u16,
    pub(crate) address: Option<String>,
    /// `true` if the replica accepts a new history id (`capa psync2`).
    pub(crate) knows_second_ids: bool,
    /// `true` if the replica accepts a snapshot of unknown length (`capa eof`).
    pub(crate) knows_delimiters: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// Wall-clock second in which the wait for a snapshot began (`wait_bgsave`).
    Waits(i64),
    /// Stream to send after the first acknowledgement (`repl_start_cmd_stream_on_ack`).
    Loads(BytesMut),
    Follows,
}

/// A connected replica. As in Redis, a replica is online once the primary has sent the snapshot.
#[derive(Debug)]
pub(crate) struct Replica {
    pub(crate) client: ClientKey,
    pub(crate) connection: ConnectionId,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) acknowledged: u64,
    pub(crate) synced: u64,
    pub(crate) acknowledged_at: i64,
    pub(crate) silent: bool,
    pub(crate) progress: Progress,
}

impl Replica {
    pub(crate) fn is_online(&self) -> bool {
        !matches!(self.progress, Progress::Waits(_))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SyncRequest<'a> {
    Snapshot,
    Continue {
        id: &'a str,
        /// First offset that the replica is missing. A negative number requests a snapshot.
        next: i64,
    },
}

impl Replication {
    pub(crate) fn replicas(&self) -> &[Replica] {
        &self.replicas
    }

    pub(crate) fn introduction(&self, key: ClientKey) -> Introduction {
        self.introductions.get(&key).cloned().unwrap_or_default()
    }

    pub(crate) fn introduction_mut(&mut self, key: ClientKey) -> &mut Introduction {
        self.introductions.entry(key).or_default()
    }

    pub(crate) fn add_replica(&mut self, replica: Replica) {
        self.replicas.push(replica);
    }

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

    pub(crate) fn has_enough_replicas(&self, config: &NodeConfig) -> bool {
        config.min_replicas_max_lag == 0
            || self.good_replicas >= config.min_replicas_to_write as usize
    }

    pub(crate) fn lost_replicas(&self, now_seconds: i64, timeout: i64) -> Vec<ClientKey> {
        let is_lost = |replica: &&Replica| {
            replica.is_online()
                && !replica.silent
                && now_seconds - replica.acknowledged_at > timeout
        };
        self.replicas.iter().filter(is_lost).map(|replica| replica.client).collect()
    }

    pub(crate) fn is_snapshot_wanted(&self) -> bool {
        self.replicas.iter().any(|replica| !replica.is_online())
    }

    /// Makes the stream repeat SELECT, because a new replica does not know the selected database.
    pub(crate) fn begin_snapshot(&mut self) {
        if !self.is_replica() {
            self.stream_db = None;
        }
    }

    /// Sends waiting replicas the snapshot. `send` returns `true` if the replica must confirm it.
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

    pub(crate) fn acknowledge(
        &mut self,
        key: ClientKey,
        offset: u64,
        synced: Option<u64>,
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

    pub(crate) fn feed_without_database(&mut self, args: &[&[u8]]) {
        if self.wants_stream() {
            let mut bytes = BytesMut::new();
            encode_command(args, &mut bytes);
            self.append_to_stream(&bytes);
        }
    }

    pub(super) fn append_to_stream(&mut self, bytes: &[u8]) {
        self.history.append(bytes);
        if !self.replicas.is_empty() {
            self.new_bytes.extend_from_slice(bytes);
        }
    }

    #[inline]
    pub(crate) fn has_new_bytes(&mut self) -> bool {
        if std::mem::take(&mut self.wants_acknowledgements) {
            self.feed_without_database(&[b"REPLCONF", b"GETACK", b"*"]);
        }
        !self.new_bytes.is_empty()
    }

    pub(crate) fn share_new_bytes(&mut self, mut send: impl FnMut(ConnectionId, Bytes)) {
        let bytes = self.new_bytes.split().freeze();
        for replica in &mut self.replicas {
            match &mut replica.progress {
                Progress::Waits(_) => {}
                Progress::Loads(held) => held.extend_from_slice(&bytes),
                Progress::Follows => send(replica.connection, bytes.clone()),
            }
        }
    }
}
