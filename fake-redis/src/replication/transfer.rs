//! Receives and loads the primary's snapshot (`readSyncBulkPayload`).

use crate::data::rdb;
use crate::state::client_key::ClientKey;
use crate::state::replication::Received;
use crate::state::server::Server;
use fencepost_machine::{Notice, Output};

impl Server {
    pub(crate) fn read_transfer(&mut self) {
        let received = match self.replication.read_transfer() {
            Ok(Some(received)) => received,
            Ok(None) => return,
            Err(_) => return self.drop_link(),
        };
        let Received { payload, id, offset, wants_acknowledgement } = received;
        match rdb::read(&payload) {
            Ok(snapshot) => {
                self.take_snapshot(snapshot);
                self.replication.adopt(&id, offset);
                self.begin_streaming();
                self.resynchronised(payload);
                if wants_acknowledgement {
                    self.acknowledge();
                }
            }
            Err(_) => {
                self.drop_link();
                self.connect_to_primary();
            }
        }
    }

    fn take_snapshot(&mut self, snapshot: rdb::Snapshot) {
        if let Some((host, _)) = self.replication.primary().cloned() {
            self.outbox.push_output(Output::Notice(Notice::TookOver { host }));
        }
        self.disconnect_replicas();
        self.client_mut(ClientKey::PRIMARY).db = 0;
        self.discard_all();
        for saved in snapshot.keys {
            if saved.db < self.config.databases {
                self.restore(saved.db, &saved.key, saved.value, saved.expires_at_ms);
            }
        }
        if let Some(origin) =
            snapshot.origin.filter(|origin| origin.stream_db < self.config.databases)
        {
            self.client_mut(ClientKey::PRIMARY).db = origin.stream_db;
        }
    }
}
