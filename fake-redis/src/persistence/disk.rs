//! Handles the disk's replies, and releases the messages that wait for a sync.

use crate::config::{Fsync, Persistence};
use crate::state::server::Server;
use fencepost_machine::{DiskImage, SyncError, SyncOf};
use std::fmt::Write;

impl Server {
    pub(crate) fn load_disk(&mut self, image: DiskImage) {
        self.persistence.found = Some(image);
    }

    /// Sends the queued messages. With `appendfsync always`, keeps them until the data is synced.
    pub(crate) fn release_sends(&mut self) {
        if self.persistence.awaits_sync() {
            self.persistence.hold(self.outbox.hold());
        } else {
            self.outbox.release();
        }
    }

    pub(crate) fn answers_after_sync(&self) -> bool {
        self.persistence.holds_messages()
    }

    pub(crate) fn disk_synced(&mut self) {
        self.outbox.release_held(self.persistence.finish_sync());
    }

    /// After a failed sync of appended commands, `appendfsync always` ends the server before the
    /// reply; other settings refuse writes until a sync succeeds (`flushAppendOnlyFile`).
    pub(crate) fn disk_failed(&mut self, of: SyncOf, error: SyncError) {
        match (of, self.persistence.mode) {
            (SyncOf::Appended, Persistence::Aof { fsync: Fsync::Always }) => {
                self.life.is_over = true
            }
            (SyncOf::Appended, _) => {
                let held = self.persistence.fail_sync(error);
                self.outbox.release_held(held);
            }
            (SyncOf::Replacement, Persistence::Aof { .. }) => self.rewrite_failed(),
            (SyncOf::Replacement, _) => self.save_failed(),
        }
    }

    pub(crate) fn persistence_cron(&mut self) {
        self.sync_in_time();
        self.save_in_time();
        self.rewrite_in_time();
    }

    pub(crate) fn write_persistence_info(&self, text: &mut String) {
        let appends = u8::from(self.persistence.wants_stream());
        let _ = write!(
            text,
            "loading:{}\r\nasync_loading:0\r\nrdb_changes_since_last_save:{}\r\n\
            rdb_bgsave_in_progress:0\r\n\
             rdb_last_save_time:{}\r\nrdb_last_bgsave_status:{}\r\naof_enabled:{appends}\r\n\
             aof_rewrite_in_progress:0\r\n\
             aof_last_write_status:{}\r\n",
            u8::from(self.life.is_loading),
            self.changes.unsaved,
            self.last_save(),
            status(self.persistence.failures.is_save_failing()),
            status(self.persistence.failures.is_log_failing()),
        );
        if self.persistence.wants_stream() {
            let size = self.persistence.size;
            let (total, base) = (size.total(), size.base);
            let _ = write!(text, "aof_current_size:{total}\r\naof_base_size:{base}\r\n");
        }
    }
}

fn status(is_failing: bool) -> &'static str {
    if is_failing { "err" } else { "ok" }
}
