//! Loading what the disk held when the server starts (`loadDataFromDisk`).

use crate::data::rdb;
use crate::protocol::request::{Limits, RequestReader};
use crate::state::client_key::ClientKey;
use crate::state::server::Server;
use bytes::Bytes;
use fencepost_machine::{DiskImage, KeyChange};

impl Server {
    /// Loads the snapshot, then the append-only file. Nothing expires meanwhile; times to live are
    /// absolute. What is unreadable from some point on is loaded up to there, as with
    /// `aof-load-truncated`; Redis refuses to start if more than the end is damaged.
    pub(crate) fn load_found(&mut self) {
        let Some(image) = self.persistence.start(self.clock.seconds()) else { return };
        self.life.begin_loading();
        self.load_snapshot(&image);
        let is_cut_short =
            self.persistence.wants_stream() && !self.load_append_only(&image.append_only);
        self.life.end_loading();
        self.changes.saved();
        if is_cut_short {
            self.rewrite_append_only();
        }
        self.tell_restored();
        self.schedule_expiry();
    }

    fn load_snapshot(&mut self, image: &DiskImage) {
        let Some(Ok(snapshot)) = image.snapshot.as_ref().map(|bytes| rdb::read(bytes)) else {
            return;
        };
        let now = self.now_ms();
        // At the beginning of an append-only file an expired key stays: what follows may have given
        // it more time before it expired (`RDBFLAGS_AOF_PREAMBLE` in rdb.c).
        let drops_expired = !self.is_replica() && !self.persistence.wants_stream();
        let is_gone =
            |saved: &rdb::SavedKey| drops_expired && saved.expires_at_ms.is_some_and(|at| at < now);
        for saved in snapshot.keys.into_iter().filter(|saved| !is_gone(saved)) {
            if saved.db < self.config.databases {
                self.restore(saved.db, &saved.key, saved.value, saved.expires_at_ms);
            }
        }
        // With an append-only file, the snapshot is only its beginning: where it was taken says
        // nothing of the whole.
        if let Some(origin) = snapshot.origin.filter(|_| !self.persistence.wants_stream()) {
            self.resume_history(&origin);
        }
    }

    /// Executes the commands of the append-only file. Returns whether it was complete: a command or
    /// a transaction that is cut short is left out.
    fn load_append_only(&mut self, file: &Bytes) -> bool {
        let limits = Limits::of(usize::MAX);
        let mut reader = RequestReader::default();
        reader.feed(file);
        let mut is_complete = true;
        loop {
            match reader.advance(limits) {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => {
                    is_complete = false;
                    break;
                }
            }
            let request = reader.take();
            let words: Vec<&[u8]> = request.args().iter().collect();
            self.apply_from_disk(&words);
            reader.give_back(request);
        }
        is_complete &= !reader.is_partial();
        is_complete &= !self.client(ClientKey::DISK).transaction.is_open();
        self.discard_transaction(ClientKey::DISK);
        self.client_mut(ClientKey::DISK).db = 0;
        is_complete
    }

    /// Tells the judge of every key that is there.
    fn tell_restored(&mut self) {
        for db in 0..self.keyspace.databases() {
            for position in 0..self.database(db).len() {
                self.tap_entry(db, position, KeyChange::Restored);
            }
        }
    }
}
