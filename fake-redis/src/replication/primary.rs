//! A primary's side of replication (`syncCommand`, `replicationFeedSlaves`).

use crate::state::client::Role;
use crate::state::client_key::ClientKey;
use crate::state::replication::{Introduction, Progress, Replica, SyncRequest};
use crate::state::server::Server;
use bytes::Bytes;
use fencepost_machine::{ConnectionId, Output};

impl Server {
    pub(crate) fn cannot_be_followed(&self) -> bool {
        self.is_replica() && !self.replication.is_link_up()
    }

    pub(crate) fn attach_replica(&mut self, key: ClientKey, request: SyncRequest<'_>) {
        let Some(connection) = self.client(key).connection else { return };
        // Flush the pending effects first, so that the new replica does not get them twice.
        self.flush_stream();
        let introduction = self.replication.introduction(key);
        let missed = match request {
            SyncRequest::Continue { id, next } => {
                u64::try_from(next).ok().and_then(|next| self.replication.history().since(id, next))
            }
            SyncRequest::Snapshot => None,
        };
        let request_is_silent = request == SyncRequest::Snapshot;
        let progress = match missed {
            Some(missed) => {
                self.send_missed(connection, &introduction, missed);
                Progress::Follows
            }
            None => {
                self.begin_history();
                Progress::Waits(self.clock.seconds())
            }
        };
        self.add_replica(key, connection, introduction, request_is_silent, progress);
        if self.snapshot_delay() == 0 {
            self.send_snapshots();
        }
        self.count_good_replicas();
    }

    fn begin_history(&mut self) {
        let id = || self.random.hexadecimal(40);
        self.replication.begin_history(id, self.config.backlog_size);
    }

    fn snapshot_delay(&self) -> i64 {
        let is_starting = self.clock.uptime_seconds() == 0;
        if self.config.starts_in_step && is_starting {
            0
        } else {
            i64::from(self.config.repl_diskless_sync_delay)
        }
    }

    /// Sends snapshots after the sync delay. Keeps waiting replicas connected with empty lines.
    pub(crate) fn send_snapshots_in_time(&mut self) {
        let now = self.clock.seconds();
        let mut longest = None;
        for replica in self.replication.replicas() {
            if let Progress::Waits(since) = replica.progress {
                longest = longest.max(Some(now - since));
                let bytes = Bytes::from_static(b"\n");
                self.outbox.send(Output::Send { connection: replica.connection, bytes });
            }
        }
        if longest.is_some_and(|waited| waited >= self.snapshot_delay()) {
            self.send_snapshots();
        }
    }

    fn add_replica(
        &mut self,
        key: ClientKey,
        connection: ConnectionId,
        said: Introduction,
        silent: bool,
        progress: Progress,
    ) {
        let client = self.client_mut(key);
        client.role = Role::Replica;
        let host = said.address.unwrap_or_else(|| host_of(&client.peer).to_owned());
        let replica = Replica {
            client: key,
            connection,
            host,
            port: said.port,
            acknowledged: 0,
            synced: 0,
            acknowledged_at: self.clock.seconds(),
            silent,
            progress,
        };
        self.replication.add_replica(replica);
        self.schedule_replication();
    }

    fn send_missed(
        &mut self,
        connection: ConnectionId,
        introduction: &Introduction,
        missed: Bytes,
    ) {
        let id = if introduction.knows_second_ids {
            format!(" {}", self.replication.history().id())
        } else {
            String::new()
        };
        self.send(connection, Bytes::from(format!("+CONTINUE{id}\r\n")));
        self.send(connection, missed);
    }

    fn send_snapshots(&mut self) {
        if !self.replication.is_snapshot_wanted() {
            return;
        }
        // The snapshot contains the pending effects, so send them to the other replicas first.
        self.flush_stream();
        self.replication.begin_snapshot();
        let payload = self.snapshot();
        let history = self.replication.history();
        let header = format!("+FULLRESYNC {} {}\r\n", history.id(), history.offset());
        let (random, outbox) = (&mut self.random, &mut self.outbox);
        self.replication.share_snapshot(self.clock.seconds(), |replica, introduction| {
            let connection = replica.connection;
            let is_delimited = !replica.silent && introduction.knows_delimiters;
            if !replica.silent {
                let bytes = Bytes::from(header.clone());
                outbox.send(Output::Send { connection, bytes });
            }
            let bytes = if is_delimited {
                delimited(&payload, &random.hexadecimal(40))
            } else {
                Bytes::from([format!("${}\r\n", payload.len()).as_bytes(), &payload].concat())
            };
            outbox.send(Output::Send { connection, bytes });
            is_delimited
        });
    }

    #[inline]
    pub(crate) fn flush_stream(&mut self) {
        if self.replication.has_new_bytes() {
            let outbox = &mut self.outbox;
            self.replication.share_new_bytes(|connection, bytes| {
                outbox.send(Output::Send { connection, bytes });
            });
        }
    }

    pub(crate) fn take_acknowledgement(
        &mut self,
        key: ClientKey,
        offset: u64,
        synced: Option<u64>,
    ) {
        let now = self.clock.seconds();
        let Some((connection, held)) = self.replication.acknowledge(key, offset, synced, now)
        else {
            return;
        };
        if !held.is_empty() {
            self.outbox.send(Output::Send { connection, bytes: held.freeze() });
        }
        self.serve_waiting();
    }

    /// Pings replicas, and drops silent replicas and an unused backlog (`replicationCron`).
    pub(crate) fn check_replicas(&mut self) {
        if self.replication.is_ping_due(self.config.repl_ping_period) {
            self.replication.feed_without_database(&[b"PING"]);
        }
        let (now, timeout) = (self.clock.seconds(), i64::from(self.config.repl_timeout));
        let lost = self.replication.lost_replicas(now, timeout);
        lost.into_iter().for_each(|key| self.disconnect(key));
        if self.replication.has_expired_backlog(now) {
            self.replication.forget_history(self.random.hexadecimal(40));
        }
    }

    pub(crate) fn disconnect_replicas(&mut self) {
        self.flush_stream();
        let all: Vec<ClientKey> =
            self.replication.replicas().iter().map(|replica| replica.client).collect();
        all.into_iter().for_each(|key| self.disconnect(key));
    }
}

fn delimited(payload: &[u8], delimiter: &str) -> Bytes {
    let announcement = format!("$EOF:{delimiter}\r\n");
    Bytes::from([announcement.as_bytes(), payload, delimiter.as_bytes()].concat())
}

fn host_of(peer: &str) -> &str {
    peer.rsplit_once(':').map_or(peer, |(host, _)| host)
}
